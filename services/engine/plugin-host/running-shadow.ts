import type { Pipeline } from '@eyrie/contract/pipeline'
import type { ShadowComparison } from '@eyrie/contract/plugin-upgrade'
import type { KnownPlugin } from './known-plugin.ts'

/**
 * A version of a plugin that runs in shadow: on the frames of the active one, without any effect.
 */
export interface RunningShadow {
  compare(): ShadowComparison[]
  end(): void
}

/**
 * Runs the elements of another version in shadow, on the channels that follow the active version of
 * its plugin. `pipelines` have the elements as they are with that version.
 */
export type StartShadow = (
  plugin: Pick<KnownPlugin, 'name' | 'version' | 'elements'>,
  pipelines: readonly Pick<Pipeline, 'id' | 'elements'>[],
) => RunningShadow
