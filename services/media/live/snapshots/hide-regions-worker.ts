import { serveThread } from '../../runtime/worker-thread.ts'
import { hideRegions } from './hide-regions.ts'

/**
 * Entry point of the worker thread that pixelates regions, so that packets of live
 * streams are not delayed.
 */
serveThread({ hide: hideRegions })
