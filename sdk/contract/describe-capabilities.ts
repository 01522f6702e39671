import { formatBytes } from './format-bytes.ts'
import type { Capabilities } from './plugin.ts'
import type { InferenceCapability, OwnModel } from './plugin-inference.ts'

/** Below this, a size would be shown as 0.0 MB. */
const MIN_MB_BYTES = 100_000

/** Formats the size of stored files for people: `1000 bytes`, `2.0 MB`. */
export const formatStorage = (bytes: number) => (bytes < MIN_MB_BYTES ? `${bytes} bytes` : formatBytes(bytes))

/** Describes what an element declares to use and to report, for people. */
export function describeCapabilities(declared: Capabilities | undefined): string[] {
  if (!declared) return ['declares no capabilities', 'may report any events and counters']
  const {
    frames,
    inference,
    events,
    counters,
    network,
    storage_bytes: storageBytes,
    budget_ms: budgetMs,
  } = declared
  return [
    frames
      ? `reads pictures (${frames.format}, up to ${frames.width}×${frames.height})`
      : 'reads no pictures',
    ...(inference ? [describeInference(inference)] : []),
    `events: ${Object.keys(events).join(', ') || 'none'}`,
    `counters: ${counters.join(', ') || 'none'}`,
    `network: ${network.join(', ') || 'none'}`,
    ...(storageBytes === undefined ? [] : [`stores up to ${formatStorage(storageBytes)}`]),
    ...(budgetMs === undefined ? [] : [`at most ${budgetMs} ms of CPU time per frame`]),
  ]
}

/** `runs models: yolox-nano, plates (own, Apache-2.0)` */
function describeInference({ models, own }: InferenceCapability): string {
  return `runs models: ${[...models, ...own.map(formatOwnModel)].join(', ')}`
}

const formatOwnModel = ({ name, license }: OwnModel) => `${name} (own, ${license})`
