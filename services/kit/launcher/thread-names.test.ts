import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { toLaunchCommand } from './launch.ts'

const SHELL = '/bin/sh'
const DROP_CACHES = '/proc/sys/vm/drop_caches'
const caches = {
  isMet: isWritable(DROP_CACHES),
  reason: 'the test has to empty caches of the kernel',
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Starts a program that writes the name of its thread after it has read a line. Resolves once its
 * boundaries are in force.
 */
async function startProgram(policy: { threadNames?: boolean }) {
  const rename = 'read line; echo renamed > /proc/self/task/$$/comm && echo renamed || echo refused'
  const [launcher, ...args] = toLaunchCommand(
    [SHELL, '-c', rename],
    { ...policy, execute: [SHELL], limits: { fileBytes: 0 } },
    { inherit: 3 },
  )
  const child = spawn(launcher, args)
  onTestFinished(() => void child.kill('SIGKILL'))
  const [report] = await once(child.stderr, 'data')
  return { child, report: JSON.parse(report) }
}

describe('names of threads', () => {
  it.each([
    [{ threadNames: true }, 'renamed\n'],
    [{}, 'refused\n'],
  ])('can be written with the policy %j: %j', async (policy, outcome) => {
    const { child, report } = await startProgram(policy)
    expect(report).toMatchObject({ missing: [] })
    child.stdin.end('continue\n')
    expect(await text(child.stdout)).toBe(outcome)
  })

  it(
    'can be written after the kernel has emptied its cache of folders',
    needs(caches),
    async () => {
      const { child } = await startProgram({ threadNames: true })
      writeFileSync(DROP_CACHES, '2')
      child.stdin.end('continue\n')
      expect(await text(child.stdout)).toBe('renamed\n')
    },
  )
})
