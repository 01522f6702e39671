import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createTestRing, type TestRing } from '../../../../test/fixtures/media/test-ring.ts'
import type { RingLocation } from '../../frames/ring-reader.ts'
import type { ElementTimeouts, OpenedElement } from '../protocol/remote-element.ts'
import { openSandboxedElement, type SandboxedElementOptions } from './sandboxed-element.ts'

/** The pictures of the ring that elements read. */
export const shape = { width: 4, height: 2, format: 'GRAY8', payloadSize: 8 } as const
/** A busy machine must not make elements fail that do not hang. */
export const patient: ElementTimeouts = { loadMs: 60_000, openMs: 60_000, processMs: 60_000 }
export const impatient: ElementTimeouts = { ...patient, processMs: 1000 }

export interface TestElementOptions extends Partial<SandboxedElementOptions> {
  timeouts?: ElementTimeouts
}

/** What a test of sandboxed elements has: a folder for plugins, a ring, and what the element of the test has reported. */
export interface SandboxTest {
  folder: string
  ring: TestRing
  location: RingLocation
  /** The element that was opened last. */
  element: OpenedElement | undefined
  logged: [level: string, fields: object, message: string][]
  crashes: string[]
  /** Opens the element `probe` of a plugin of the same name in a sandbox. It is closed at the end of the test. */
  open(entry: string, args: object, options?: TestElementOptions): Promise<OpenedElement>
}

/** Provides each test of a file with a sandbox of its own. */
export function useSandbox(): SandboxTest {
  const its = {
    async open(entry, args, { timeouts = patient, ...options } = {}) {
      const { logged, crashes, folder } = its
      const record = (level: string) => (fields: object, message: string) =>
        void logged.push([level, fields, message])
      its.element = await openSandboxedElement(
        {
          source: {
            entry: join(folder, 'probe', entry),
            name: 'probe',
            setup: { args, config: undefined, source: { id: 1 }, size: undefined },
          },
          needsPixels: false,
          findRing: () => its.location,
          checkIsolation: () => {},
          onCost: () => {},
          onCrash: reason => crashes.push(reason),
          logFields: { plugin: 'probe' },
          log: { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') },
          ...options,
        },
        timeouts,
      )
      return its.element
    },
  } as SandboxTest

  beforeEach(() => {
    its.folder = mkdtempSync(join(tmpdir(), 'eyrie-plugins-'))
    its.ring = createTestRing(join(its.folder, 'view.ring'), shape)
    its.location = { path: its.ring.path, generation: its.ring.generation }
    its.logged = []
    its.crashes = []
  })
  afterEach(() => {
    its.element?.close?.()
    its.element = undefined
    its.ring.close()
    rmSync(its.folder, { recursive: true })
  })
  return its
}
