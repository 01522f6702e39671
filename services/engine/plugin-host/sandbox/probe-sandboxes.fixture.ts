import { join } from 'node:path'
import { serviceEgress } from '@eyrie/kit'
import {
  createSandboxes,
  type Sandboxes,
  type SandboxesOptions,
  type SandboxRequest,
} from './sandboxes.ts'

/** Creates sandboxes for the plugins of a folder, in which they also store what they need. */
export const createTestSandboxes = (
  folder: string,
  options: Pick<SandboxesOptions, 'quarantine' | 'allowsPartialIsolation' | 'log'> &
    Partial<SandboxesOptions>,
): Promise<Sandboxes> =>
  createSandboxes({
    folder,
    codeFolder: join(folder, '.compiled'),
    storageFolder: join(folder, '.storage'),
    egress: serviceEgress,
    verifyPackage: async () => {},
    assertTrusted: () => {},
    ...options,
  })

/** Opens the element of the plugin `probe` of the folder on channel 1. */
export const openProbe = (
  sandboxes: Sandboxes,
  folder: string,
  log: SandboxesOptions['log'],
  request: Partial<SandboxRequest> = {},
) =>
  sandboxes.open({
    plugin: { plugin: 'probe', version: '1.0.0', channel: 1 },
    source: {
      entry: join(folder, 'probe/element.ts'),
      name: 'probe',
      setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
    },
    capabilities: undefined,
    needsPixels: false,
    findRing: () => undefined,
    onCost: () => {},
    log,
    ...request,
  })
