// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT
'use strict';

/**
 * libreach for Node: this file and the addon beside it, built from reach_node.c, are to be copied.
 *
 *     const reach = require('./reach');
 *
 *     if (reach.online()) ...
 *     const watch = new reach.Watch('0.0.0.0');     // the internet at large
 *     watch.on('change', (flags) => console.log(flags.online, String(flags)));
 *     watch.close();
 *
 * Run as a program, it shows this until it is told to end: node reach.js
 */

const { EventEmitter, once } = require('node:events');
const readline = require('node:readline');
const native = require('./reach_node.node');

/** A set of flags, as libreach gave it. */
class Flags {
  constructor(bits) {
    this.bits = bits;
  }

  /** Reachable, and no connection required first. */
  get online() {
    return native.isOnline(this.bits);
  }

  toString() {
    return native.describe(this.bits);
  }

  valueOf() {
    return this.bits;
  }
}

/** Is there a path to the internet at large? */
const online = native.online;

/** The answer for a host name or an address in text, now. Never waits, never sends a packet, never looks a name up. */
function flags(name) {
  return new Flags(native.flags(name));
}

/**
 * Emits 'change' with the new Flags for every change of the answer for a host name or an address in text, until it is
 * closed. Like a server, it stays open, and keeps the process alive, until then.
 */
class Watch extends EventEmitter {
  #watch;

  constructor(name) {
    super();
    this.#watch = native.watch(name, (bits) => this.emit('change', new Flags(bits)));
  }

  /** Ends the watch: nothing is emitted after this. It may be called more than once. */
  close() {
    native.close(this.#watch);
  }

  [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() {
    this.close();
  }
}

module.exports = { Flags, Watch, flags, online };

async function main() {
  console.log(`online: ${online() ? 'yes' : 'no'}`);
  console.log(`localhost: ${flags('localhost')}`);
  try {
    flags('');
  } catch (error) {
    console.log(`error: ${error.message} (${error.code})`);
  }

  const input = readline.createInterface({ input: process.stdin });
  const ended = once(input, 'close');
  let watch = new Watch('0.0.0.0');
  watch.on('change', (now) => console.log(`change: ${now}`));
  global.gc?.(); // the listener lives as long as its watch is open
  console.log('ready');

  await once(input, 'line');
  watch.close();
  watch = null;
  global.gc?.(); // and now it is gone, and nobody calls it
  console.log('closed');

  await ended;
  console.log('bye');
}

if (require.main === module) {
  main();
}
