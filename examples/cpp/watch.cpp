// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
//
// libreach for C++17, through reach.hpp, which is installed beside reach.h.
//
//     c++ -std=c++17 watch.cpp $(pkg-config --cflags --libs libreach) -o watch
#include <reach.hpp>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

int main()
{
    std::cout << "online: " << (reach::online() ? "yes" : "no") << std::endl;
    std::cout << "localhost: " << reach::target("localhost").flags().text() << std::endl;
    try {
        reach::target nothing("");
    } catch (const std::system_error &error) {
        std::cout << "error: " << error.what() << std::endl;
        if (error.code() != std::errc::invalid_argument)
            return EXIT_FAILURE;
    }

    std::string line;
    std::weak_ptr<int> changes;
    {
        auto count = std::make_shared<int>(0);
        changes = count;
        auto changed = [count = std::move(count)](reach::flags now) {
            std::cout << "change: " << now.text() << std::endl;
            ++*count;
        };
        reach::watch watch(reach::target::internet(), reach::queue("watch"), std::move(changed));
        std::cout << "ready" << std::endl;
        std::getline(std::cin, line);
    }
    // The watch has ended, and with it went the closure and what only the closure held.
    if (!changes.expired())
        return EXIT_FAILURE;
    std::cout << "closed" << std::endl;

    std::getline(std::cin, line);
    std::cout << "bye" << std::endl;
}
