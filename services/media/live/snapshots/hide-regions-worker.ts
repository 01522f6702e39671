import { answerFromThread } from '../../runtime/worker-thread.ts'
import { hide } from './hide-regions.ts'

/** Pixels are touched here, and not where packets pass. */
answerFromThread({ hide })
