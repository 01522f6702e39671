import type { Tracer } from '@eyrie/kit/tracer'
import type { Activation } from '../activation/activation.ts'
import type { Admission } from '../admission/admission.ts'
import type { Cameras } from '../cameras/cameras.ts'
import type { Configuration } from '../configuration/configuration.ts'
import type { Output } from '../output/output.ts'
import type { PictureStore } from '../pictures/store.ts'
import type { Plugins } from '../plugins/plugins.ts'
import type { Catalog, Runtime } from '../ports.ts'
import type { ChannelSnapshots } from '../snapshots/snapshots.ts'
import type { SystemMeter } from '../statistics/system.ts'

/** What the adapters of every revision work on. */
export interface Core {
  version: string
  /** Shared with media. */
  internalToken: string | undefined
  activation: Activation
  admission: Admission
  cameras: Cameras
  catalog: Catalog
  configuration: Configuration
  runtime: Runtime
  meter: SystemMeter
  output: Output
  pictures: PictureStore
  plugins: Plugins
  snapshots: ChannelSnapshots
  tracer: Tracer
}
