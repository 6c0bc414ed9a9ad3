// One line per check, and waiting that ends.

/** Returns `check(name, run, seconds)`: prints `ok` or `FAILED` and why, and remembers a failure in the exit status. */
export function report(library) {
  return async (name, run, seconds = 30) => {
    const from = performance.now();
    const line = `${library.padEnd(22)} ${name}`;
    try {
      await within(seconds, Promise.resolve().then(run));
      console.log(`ok      ${line} (${Math.round(performance.now() - from)} ms)`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`FAILED  ${line}: ${error?.message?.replaceAll('\n', ' ') ?? error}`);
    }
  };
}

/** What comes later, in order: `came` takes one, `next` waits for one. */
export function soon(what) {
  const waiting = [];
  const here = [];
  return {
    came: (value) => (waiting.length > 0 ? waiting.shift()(value) : here.push(value)),
    next: () => (here.length > 0 ? here.shift() : within(10, new Promise((resolve) => waiting.push(resolve)), what)),
  };
}

function within(seconds, promise, what = 'end') {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no ${what} within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
