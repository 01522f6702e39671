import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { launch } from './launch.ts'
import type { LaunchPolicy } from './policy.ts'

export const LAUNCHER = resolve(import.meta.dirname, 'build/eyrie-launcher')
export const limits = { dataBytes: 1 << 30, openFiles: 64, fileBytes: 0 }

/** Runs a program under a policy and returns how it ended, and what it printed. */
export async function run(command: readonly [string, ...string[]], policy: Partial<LaunchPolicy>) {
  const full = { limits, ...policy, execute: [command[0], ...(policy.execute ?? [])] }
  const { child, report } = launch(command, full, { output: 'pipe' })
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit'),
  ])
  return { stdout, stderr, code, signal, report: await report }
}
