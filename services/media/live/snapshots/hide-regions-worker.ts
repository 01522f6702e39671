import { serveThread } from '../../runtime/worker-thread.ts'
import { hideRegions } from './hide-regions.ts'

/** Worker thread: pixelation must not delay the packets of live streams. */
serveThread({ hide: hideRegions })
