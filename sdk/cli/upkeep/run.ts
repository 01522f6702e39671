import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Terminal } from '../terminal.ts'

const main = resolve(import.meta.dirname, '../../../services/management/upkeep/main.ts')

/**
 * Has management do a piece of its upkeep, whether it runs or not: nobody else speaks with its database. Answers what it
 * says; throws an Error with its words where it fails.
 */
export async function upkeep<T>(args: string[], { data, environment = {} }: Terminal): Promise<T> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...environment, EYRIE_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(err.trim() || `management's upkeep has ended with ${code}`)
  return JSON.parse(out) as T
}
