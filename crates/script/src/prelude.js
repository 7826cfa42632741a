// Run in every new context before the user's source. It takes away what would run made-up code or give another result
// the next time, and gives back what the sandbox needs.
(function (write) {
  'use strict';
  const { defineProperty, getPrototypeOf } = Object;
  const { stringify } = JSON;
  const { apply } = Reflect;
  const { toWellFormed } = String.prototype;
  const text = String;

  // Code made at run time: by name, and through the constructors that functions know.
  delete globalThis.eval;
  const refuse = function Function() {
    throw new TypeError('code made at run time is not run');
  };
  for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const prototype = getPrototypeOf(sample);
    defineProperty(prototype, 'constructor', { value: refuse, writable: false, configurable: false });
  }
  defineProperty(refuse, 'prototype', { value: Function.prototype, writable: false });
  defineProperty(globalThis, 'Function', { value: refuse, writable: true, configurable: true, enumerable: false });

  // Memory shared between threads, of which there is one.
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;

  // The generator mulberry32, from the same seed in every call.
  let state = 0x9e3779b9;
  const { imul } = Math;
  Math.random = function random() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  const shown = (value) => {
    if (typeof value === 'object' && value !== null && !(value instanceof Error)) {
      try {
        const json = stringify(value);
        if (json !== undefined) return json;
      } catch {}
    }
    try {
      return text(value);
    } catch {
      return '[a value that cannot be shown]';
    }
  };
  const log = (...values) => {
    let line = '';
    for (let index = 0; index < values.length; index += 1) {
      line += (index === 0 ? '' : ' ') + shown(values[index]);
    }
    write(apply(toWellFormed, line, []));
  };
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };

  return {
    call: async (scored, argument) => scored(argument),
    wellFormed: (value) => apply(toWellFormed, value, []),
    shown,
  };
})
