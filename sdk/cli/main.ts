#!/usr/bin/env node
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { createStreamOutput } from './command/terminal.ts'
import { runCommandLine } from './command-line.ts'

// The executable `eyrie`: runs the command line of this process, and exits with its exit code.

/** Ctrl-C, the request of a service manager to end, and the end of the terminal. */
const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The exit code of a program that SIGPIPE has ended, as shells report it. */
const PIPE_CLOSED = 128 + constants.signals.SIGPIPE

// In `eyrie watch | head`, head closes the pipe early. The command ends, as other programs do. It
// may not have done everything, so the exit code is not 0.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(PIPE_CLOSED)
  process.stderr.write(`eyrie: the output cannot be written: ${error.message}\n`, () =>
    process.exit(1),
  )
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  data: resolve(process.env.EYRIE_DATA || './.eyrie'),
  environment: process.env,
  // Created only for commands that read it.
  get input() {
    return process.stdin
  },
  out: createStreamOutput(process.stdout),
  err: process.stderr,
  captureInterrupt() {
    const interruption = new AbortController()
    for (const signal of INTERRUPTS) process.once(signal, () => interruption.abort())
    return interruption.signal
  },
})
