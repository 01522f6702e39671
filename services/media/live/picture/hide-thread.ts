import { answerFromThread } from '../../thread.ts'
import { hide } from './hide.ts'

/** Pixels are touched here, and not where packets pass. */
answerFromThread({ hide })
