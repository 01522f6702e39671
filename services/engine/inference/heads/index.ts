import type { DecodeHeads } from './candidate.ts'
import { decodeDecoded } from './decoded.ts'
import { decodeNms } from './nms.ts'
import { decodeYolox } from './yolox.ts'

export type { Candidate, HeadOutput } from './candidate.ts'

/** A decoder for every head that a model card can name. */
export const decodeHeads: DecodeHeads = { yolox: decodeYolox, decoded: decodeDecoded, nms: decodeNms }
