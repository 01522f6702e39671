import { serveThread } from '../../runtime/worker-thread.ts'
import { hideRegions } from './hide-regions.ts'

/** Pixels are touched here, and not where packets pass. */
serveThread({ hide: hideRegions })
