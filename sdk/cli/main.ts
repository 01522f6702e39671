#!/usr/bin/env node
import { resolve } from 'node:path'
import { eyrie } from './eyrie.ts'

// `eyrie watch | head`: who reads no more needs no more.
process.stdout.on('error', error => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1))

process.exitCode = await eyrie(process.argv.slice(2), {
  data: resolve(process.env.EYRIE_DATA || './.eyrie'),
  environment: process.env,
  out: process.stdout,
  err: process.stderr,
  interrupted() {
    const interruption = new AbortController()
    process.once('SIGINT', () => interruption.abort())
    return interruption.signal
  },
})
