import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createLog } from '@eyrie/kit'
import { launchNode } from '@eyrie/kit/launcher/launch'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createElementFrame } from '../../../../test/fixtures/engine/element-frame.ts'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { openPluginQuarantine } from './plugin-quarantine.ts'
import { createTestSandboxes, openProbe } from './probe-sandboxes.fixture.ts'

const root = resolve(import.meta.dirname, '../../../..')
const log = createLog('test', 'silent')
const LIMIT_MS = 120_000

/** Sandboxes with the plugin `probe`, and a function that opens it on channel 1. */
async function setUp(open: string) {
  const folder = createTemporaryFolder()
  writePlugin(folder, { open })
  const quarantine = openPluginQuarantine({ file: join(folder, 'quarantine.json'), log })
  const verified: string[] = []
  const sandboxes = await createTestSandboxes(folder, {
    quarantine,
    allowsPartialIsolation: false,
    verifyPackage: async (...plugin) => void verified.push(plugin.join(' ')),
    log,
  })
  const openElement = () => openProbe(sandboxes, folder, log)
  return { quarantine, sandboxes, verified, openElement }
}

describe('sandboxes', () => {
  it(
    'verify the package at every start, and stop a plugin that crashes repeatedly',
    async () => {
      const { quarantine, sandboxes, verified, openElement } = await setUp('process.exit(7)')
      expect(sandboxes.findIsolationProblem()).toBeUndefined()
      for (let crash = 1; crash <= 3; crash += 1) {
        await expect(openElement()).rejects.toThrow(/exit code 7/)
      }
      expect(verified).toEqual(Array(3).fill('probe 1.0.0'))

      await expect(openElement()).rejects.toThrow(
        /version 1\.0\.0 of plugin probe is in quarantine.*exit code 7.*eyrie plugin release probe/,
      )
      expect(verified).toHaveLength(3)
      quarantine.release('probe')
      await expect(openElement()).rejects.toThrow(/exit code 7/)
    },
    LIMIT_MS,
  )

  it(
    'end an element before the next frame when its publisher is no longer trusted, which is no crash',
    async () => {
      const folder = createTemporaryFolder()
      writePlugin(folder, {
        open: 'return { metadata: { ran: true }, process: () => ({ events: [] }) }',
      })
      const quarantine = openPluginQuarantine({ file: join(folder, 'quarantine.json'), log })
      const addCrash = vi.spyOn(quarantine, 'addCrash')
      let isTrusted = true
      const sandboxes = await createTestSandboxes(folder, {
        quarantine,
        allowsPartialIsolation: false,
        assertTrusted: (plugin, version) => {
          if (!isTrusted) throw new Error(`${plugin} ${version} is distrusted`)
        },
        log,
      })
      const element = await openProbe(sandboxes, folder, log)
      expect(element.metadata).toEqual({ ran: true })
      expect(await element.process(createElementFrame(1))).toEqual({ events: [] })
      isTrusted = false
      await expect((async () => element.process(createElementFrame(2)))()).rejects.toThrow(
        'probe 1.0.0 is distrusted',
      )
      await expect(openProbe(sandboxes, folder, log)).rejects.toThrow('probe 1.0.0 is distrusted')
      isTrusted = true
      // The process has ended.
      await expect((async () => element.process(createElementFrame(3)))()).rejects.toThrow()
      expect(addCrash).not.toHaveBeenCalled()
    },
    LIMIT_MS,
  )

  it(
    'do not count errors of the element as crashes',
    async () => {
      const { quarantine, openElement } = await setUp(`throw new Error('no camera')`)
      for (let attempt = 1; attempt <= 4; attempt += 1) {
        await expect(openElement()).rejects.toThrow('no camera')
      }
      expect(quarantine.list()).toEqual([])
    },
    LIMIT_MS,
  )

  it(
    'run nothing on a machine without boundaries, unless its owner permits it',
    async () => {
      const folder = createTemporaryFolder()
      writePlugin(folder, { open: 'return { metadata: { ran: true }, process: () => ({}) }' })
      const policy = {
        read: [root, '/proc'],
        write: [folder],
        sockets: true,
        processes: true,
        limits: {},
      }
      const launcher = resolve(root, 'services/kit/launcher/build/eyrie-launcher')
      const { child } = launchNode(
        [resolve(import.meta.dirname, 'weak-machine.fixture.ts')],
        { ...policy, execute: [launcher] },
        { output: 'ignore' },
      )
      onTestFinished(() => void child.kill('SIGKILL'))
      const received = vi.fn()
      child.once('message', received)
      child.send(folder)
      await once(child, 'exit')
      expect(received.mock.calls[0]?.[0]).toEqual([
        {
          level: 'none',
          outcome: expect.stringMatching(
            /isolation is none: .*engine\.allow_partial_plugin_isolation/,
          ),
        },
        { level: 'none', outcome: { ran: true } },
      ])
    },
    LIMIT_MS,
  )
})
