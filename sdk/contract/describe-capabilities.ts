import { formatBytes } from './format-bytes.ts'
import type { Capabilities } from './plugin.ts'
import type { InferenceCapability, OwnModel } from './plugin-inference.ts'

/** Below this, a size would be shown as 0.0 MB. */
const MIN_MB_BYTES = 100_000

/** Formats the size of stored files for people: `1000 bytes`, `2.0 MB`. */
export const formatStorage = (bytes: number) =>
  bytes < MIN_MB_BYTES ? `${bytes} bytes` : formatBytes(bytes)

/**
 * Describes for people what an element declares to use and to report, one capability in each text.
 */
export function describeCapabilities(declared: Capabilities | undefined): string[] {
  if (!declared) return ['declares no capabilities', 'may report any events and counters']

  const { inference, events, counters, network, storage_bytes, budget_ms } = declared
  const descriptions = [describeFrames(declared)]
  if (inference) descriptions.push(describeInference(inference))
  descriptions.push(
    `events: ${formatList(Object.keys(events))}`,
    `counters: ${formatList(counters)}`,
    `network: ${formatList(network)}`,
  )
  if (storage_bytes !== undefined) {
    descriptions.push(`stores up to ${formatStorage(storage_bytes)}`)
  }
  if (budget_ms !== undefined) descriptions.push(`at most ${budget_ms} ms of CPU time per frame`)
  return descriptions
}

const describeFrames = ({ frames }: Capabilities) =>
  frames
    ? `reads pictures (${frames.format}, up to ${frames.width}×${frames.height})`
    : 'reads no pictures'

const formatList = (names: readonly string[]) => names.join(', ') || 'none'

/** `runs models: yolox-nano, plates (own, Apache-2.0)` */
function describeInference({ models, own }: InferenceCapability): string {
  return `runs models: ${[...models, ...own.map(formatOwnModel)].join(', ')}`
}

const formatOwnModel = ({ name, license }: OwnModel) => `${name} (own, ${license})`
