import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createTestRing, type TestRing } from '../../../../test/fixtures/media/test-ring.ts'
import type { RingLocation } from '../../frames/ring-reader.ts'
import { patient } from '../protocol/element-timeouts.fixture.ts'
import type { ElementTimeouts, OpenedElement } from '../protocol/remote-element.ts'
import { openSandboxedElement, type SandboxedElementOptions } from './sandboxed-element.ts'

/** Opens elements in sandboxes for tests, and records what they report. */

/** The shape of the ring with the pictures that elements read. */
export const shape = { width: 4, height: 2, format: 'GRAY8', payloadSize: 8 } as const

export interface TestElementOptions extends Partial<SandboxedElementOptions> {
  timeouts?: ElementTimeouts
}

/** The sandbox of the current test. */
export interface SandboxTest {
  /** Folder in which a test writes its plugin. */
  folder: string
  ring: TestRing
  location: RingLocation
  /** The element that was opened last. */
  element: OpenedElement | undefined
  /** The log entries of the element. */
  logged: [level: string, fields: object, message: string][]
  /** Reasons of crashes of the element. */
  crashes: string[]
  /**
   * Opens the element `probe` of a plugin of the same name in a sandbox. It is closed at
   * the end of the test.
   */
  open(entry: string, args: object, options?: TestElementOptions): Promise<OpenedElement>
}

/**
 * Creates a sandbox for each test of a file. The properties of the returned object are those
 * of the current test.
 */
export function useSandbox(): SandboxTest {
  const sandbox = {
    async open(entry, args, { timeouts = patient, ...options } = {}) {
      const { logged, crashes, folder } = sandbox
      const record = (level: string) => (fields: object, message: string) =>
        void logged.push([level, fields, message])
      sandbox.element = await openSandboxedElement(
        {
          source: {
            entry: join(folder, 'probe', entry),
            name: 'probe',
            setup: { args, config: undefined, source: { id: 1 }, size: undefined },
          },
          needsPixels: false,
          findRing: () => sandbox.location,
          checkIsolation: () => {},
          onCost: () => {},
          onCrash: reason => crashes.push(reason),
          logFields: { plugin: 'probe' },
          log: {
            debug: record('debug'),
            info: record('info'),
            warn: record('warn'),
            error: record('error'),
          },
          ...options,
        },
        timeouts,
      )
      return sandbox.element
    },
  } as SandboxTest

  beforeEach(() => {
    sandbox.folder = mkdtempSync(join(tmpdir(), 'eyrie-plugins-'))
    sandbox.ring = createTestRing(join(sandbox.folder, 'view.ring'), shape)
    sandbox.location = { path: sandbox.ring.path, generation: sandbox.ring.generation }
    sandbox.logged = []
    sandbox.crashes = []
  })
  afterEach(() => {
    sandbox.element?.close?.()
    sandbox.element = undefined
    sandbox.ring.close()
    rmSync(sandbox.folder, { recursive: true })
  })
  return sandbox
}
