#!/usr/bin/env node
import { resolve } from 'node:path'
import { runCommandLine } from './command-line.ts'

// The executable `eyrie`: runs the command line of this process, and exits with its exit code.

/** Ctrl-C, the request of a service manager to end, and the end of the terminal. */
const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

// In `eyrie watch | head`, head closes the pipe early. That is a normal end, not a failure.
process.stdout.on('error', error => {
  const isPipeClosed = 'code' in error && error.code === 'EPIPE'
  process.exit(isPipeClosed ? 0 : 1)
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  data: resolve(process.env.EYRIE_DATA || './.eyrie'),
  environment: process.env,
  // Created only for commands that read it.
  get input() {
    return process.stdin
  },
  out: process.stdout,
  err: process.stderr,
  captureInterrupt() {
    const interruption = new AbortController()
    for (const signal of INTERRUPTS) process.once(signal, () => interruption.abort())
    return interruption.signal
  },
})
