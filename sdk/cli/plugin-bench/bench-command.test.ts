// @module-tag long

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capabilities } from '@eyrie/contract/plugin'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-'))
  return () => rmSync(folder, { recursive: true, force: true })
})

const bench = (...args: string[]) => runEyrieCommand(['plugin', 'bench', ...args], { data: folder })

describe('eyrie plugin bench', () => {
  it('measures an element that reads pictures and stores files, against its budget', async () => {
    writePlugin(folder, {
      name: 'gate',
      element: {
        needs: ['pixels'],
        runs: 'worker',
        params_schema: { type: 'object' },
        capabilities: capabilities.parse({
          frames: { format: 'GRAY8', width: 64, height: 64 },
          storage_bytes: 1000,
          counters: ['bright'],
          budget_ms: 900,
        }),
      },
      open: `
        setup.storage.write('limit', String(setup.args.limit))
        const view = { format: 'GRAY8', width: 64, height: 64, multiple_of: 1, letterbox: false, fill: 0 }
        return { view, process: (frame: any, { data }: any) => ({ counters: { all: { bright: data.length } } }) }`,
    })
    const measured = await bench(
      join(folder, 'gate'),
      '--seconds',
      '2',
      '--args',
      '{"limit": 3}',
      '--json',
    )
    expect(measured).toMatchObject({ code: 0, err: '' })
    const result = JSON.parse(measured.out)
    expect(result).toMatchObject({ element: 'gate', frames: 60, budget_ms: 900 })
    expect(result.round_trip_p99).toBeGreaterThanOrEqual(result.round_trip_p50)
    expect(result.peak_rss_bytes).toBeGreaterThan(10e6)
  })

  it('ends and leaves no files when it is interrupted', async () => {
    writePlugin(folder, { name: 'idle' })
    const temporary = createTemporaryFolder()
    vi.stubEnv('TMPDIR', temporary)
    onTestFinished(() => void vi.unstubAllEnvs())
    const interruption = new AbortController()
    const measured = runEyrieCommand(
      ['plugin', 'bench', join(folder, 'idle'), '--seconds', '3600'],
      { data: folder, captureInterrupt: () => interruption.signal },
    )
    await vi.waitUntil(() => readdirSync(temporary).length > 0, { timeout: 60_000 })
    interruption.abort()
    expect(await measured).toEqual({
      code: 1,
      out: '',
      err: 'eyrie: interrupted: the measurement is not complete\n',
    })
    expect(readdirSync(temporary)).toEqual([])
  })

  it('fails with the figures when the element exceeds its budget', async () => {
    writePlugin(folder, {
      name: 'slow',
      element: { capabilities: capabilities.parse({ budget_ms: 0.5 }) },
      open: `return {
        process() {
          const end = performance.now() + 10
          while (performance.now() < end);
          return {}
        },
      }`,
    })
    expect(await bench(join(folder, 'slow'), '--seconds', '2')).toEqual({
      code: 1,
      out: expect.stringMatching(
        /^slow +60 frames, isolation \w+\nCPU time per frame +[\d.]+ ms \(of 0\.5 ms\)\n/,
      ),
      err: expect.stringMatching(
        /slow uses [\d.]+ ms of CPU time per frame, more than the budget_ms of 0\.5/,
      ),
    })
  })

  it('names what the manifest does not declare', async () => {
    writePlugin(folder, {
      name: 'loud',
      element: { capabilities: capabilities.parse({}) },
      open: `return { process: () => ({ events: [{ type: 'crowd', count: 3 }] }) }`,
    })
    expect(await bench(join(folder, 'loud'))).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /does not declare.*"events": \{ "crowd": \{ "count": "number" \} \}/,
      ),
    })
  })

  it.each([
    [['nowhere'], 1, /nowhere does not exist/],
    [['loud', '--args', '5'], 2, /--args 5 should be a JSON object/],
    [['loud', '--element', 'quiet'], 1, /has no element quiet: it has loud/],
  ])('reports why %j fails', async ([name, ...options], code, reason) => {
    const failed = await bench(join(folder, name!), ...options)
    expect(failed).toMatchObject({ code, err: expect.stringMatching(reason) })
  })
})
