import type { Isolation } from '@eyrie/contract'
import type { DiskMonitor } from '@eyrie/kit'
import type { Tracer } from '@eyrie/kit/tracer'
import type { Activation } from '../../activation/activation.ts'
import type { Admission } from '../../admission/admission.ts'
import type { Cameras } from '../../cameras/cameras.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Configuration } from '../../configuration/configuration.ts'
import type { Models } from '../../models/models.ts'
import type { Output } from '../../output/output.ts'
import type { ChannelSnapshots } from '../../pictures/channel-snapshots.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { Sandboxes } from '../../plugin-host/sandbox/sandboxes.ts'
import type { Plugins } from '../../plugins/plugins.ts'
import type { PluginTrust } from '../../plugins/trust/plugin-trust.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { SystemMeter } from '../../statistics/system-meter.ts'

/** The components of the engine that the API serves. */
export interface ApiContext {
  version: string
  /** Authenticates requests between the services. Stream tickets are signed with it. */
  internalToken: string | undefined
  activation: Activation
  admission: Admission
  cameras: Cameras
  catalog: Catalog
  configuration: Configuration
  disk: DiskMonitor
  /** Returns the boundaries around the processes that run models. */
  isolation: () => Isolation
  runtime: Runtime
  meter: SystemMeter
  models: Models
  output: Output
  pictures: PictureStore
  plugins: Plugins
  pluginTrust: PluginTrust
  sandboxes: Pick<Sandboxes, 'isolation'>
  snapshots: ChannelSnapshots
  tracer: Tracer
}
