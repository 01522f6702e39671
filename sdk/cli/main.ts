#!/usr/bin/env node
import { resolve } from 'node:path'
import { eyrie } from './eyrie.ts'

process.exitCode = await eyrie(process.argv.slice(2), {
  data: resolve(process.env.EYRIE_DATA || './.eyrie'),
  out: process.stdout,
  err: process.stderr,
})
