// Where a stalling Node is: a thread of its own pauses the main one for an instant and writes the frames down.
//
// Only on order (`[system] heartbeat = "stacks"`), since it attaches the inspector, which the program can notice: it
// says on stderr at its end that it waits for the debugger. The format is that of Python's faulthandler.
'use strict'

const { appendFileSync } = require('node:fs')
const { Session } = require('node:inspector')
const { workerData } = require('node:worker_threads')

const { beats, path } = workerData
// After a beat this long ago the loop is taken to stall.
const STALLING_NS = 200_000_000n
const LOOK_MS = 20
const FRAMES = 8

const session = new Session()
const files = new Map()
session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url))
session.connectToMainThread()
session.post('Debugger.enable')

let asked = 0n

session.on('Debugger.paused', ({ params }) => {
  session.post('Debugger.resume')
  // A pause that came late caught something else.
  if (beats[0] !== asked) return
  const frame = ({ functionName, location }) =>
    `  File "${files.get(location.scriptId) || '<unknown>'}", line ${location.lineNumber + 1} in ${functionName || '<anonymous>'}\n`
  appendFileSync(path, `Thread 0x0 (most recent call first):\n${params.callFrames.slice(0, FRAMES).map(frame).join('')}`)
})

setInterval(() => {
  const beat = beats[0]
  if (beat === 0n || beat === asked || process.hrtime.bigint() - beat < STALLING_NS) return
  asked = beat
  session.post('Debugger.pause')
}, LOOK_MS)
