import type { PictureStatistics } from '@eyrie/contract/picture-statistics'
import { type Presence, toPresence } from './observation.ts'

/** How the pictures of a camera usually look. */
export interface PictureReference {
  /** Number of pictures from which the reference was learned; at most `MEMORY_SAMPLES`. */
  samples: number
  sharpness: number
  /** Mean of the signatures of the scene, see `PictureStatistics`. */
  edges: readonly number[]
}

export interface PictureThresholds {
  black_brightness: number
  frozen_s: number
  sharpness_percent: number
  similarity_percent: number
}

/** Which failures of a camera its picture shows. */
export interface PictureVerdict {
  black: Presence
  frozen: Presence
  defocused: Presence
  /** Whether the camera shows another scene than usual. */
  moved: Presence
  /** The reference after this picture; undefined before the first usable picture. */
  reference: PictureReference | undefined
}

/** A dark picture with less contrast than this shows nothing at all. */
const MAX_BLACK_CONTRAST = 6
/** Below this contrast, focus and scene cannot be judged, for example at night or in fog. */
const MIN_JUDGED_CONTRAST = 12
/** Number of pictures after which the reference is relied upon. They take about five minutes. */
export const LEARNED_SAMPLES = 30
/**
 * The reference adapts to slow changes, such as the time of day, within about this number of
 * pictures.
 */
const MEMORY_SAMPLES = 360
/**
 * Minimum mean length of the edge vectors of a scene that can be recognized. The
 * maximum length is 127.
 */
const MIN_EDGE_LENGTH = 8
/**
 * Number of values of a signature: a vector with two components for each cell of a grid of 16 × 9.
 */
const EDGES_LENGTH = 16 * 9 * 2

/**
 * Judges a picture by its statistics, and compares it with the reference, which describes
 * how the pictures of this camera usually look. Returns the reference with what was
 * learned from this picture.
 */
export function judgePicture(
  statistics: PictureStatistics,
  reference: PictureReference | undefined,
  thresholds: PictureThresholds,
): PictureVerdict {
  const { brightness, contrast, still_s: stillS, sharpness } = statistics
  const isBlack = brightness < thresholds.black_brightness && contrast < MAX_BLACK_CONTRAST
  const isFrozen = stillS >= thresholds.frozen_s
  const edges = decodeEdges(statistics.edges)
  const unjudged: PictureVerdict = {
    black: toPresence(isBlack),
    frozen: toPresence(isFrozen),
    defocused: 'unknown',
    moved: 'unknown',
    reference,
  }
  // A frozen picture repeats what has been judged already.
  if (contrast < MIN_JUDGED_CONTRAST || isBlack || isFrozen || !edges) return unjudged

  if (!reference || reference.samples < LEARNED_SAMPLES) {
    return { ...unjudged, reference: learn(reference, sharpness, edges) }
  }

  const isDefocused = sharpness < (reference.sharpness * thresholds.sharpness_percent) / 100
  const hasEdges = measureLength(reference.edges) >= MIN_EDGE_LENGTH
  // Without focus, edges vanish: the scene is judged again when the picture is sharp.
  const isSceneJudged = hasEdges && !isDefocused
  const minSimilarity = thresholds.similarity_percent / 100
  const hasMoved = isSceneJudged && compareEdges(edges, reference.edges) < minSimilarity
  const isUsual = !isDefocused && !hasMoved
  return {
    ...unjudged,
    defocused: toPresence(isDefocused),
    moved: isSceneJudged ? toPresence(hasMoved) : 'unknown',
    reference: isUsual ? learn(reference, sharpness, edges) : reference,
  }
}

/**
 * Includes a picture in the reference. At first all pictures have the same weight. Later, a new
 * picture has a fixed weight.
 */
function learn(
  reference: PictureReference | undefined,
  sharpness: number,
  edges: readonly number[],
): PictureReference {
  if (!reference) return { samples: 1, sharpness, edges }
  const samples = Math.min(reference.samples + 1, MEMORY_SAMPLES)
  const follow = (mean: number, value: number) => mean + (value - mean) / samples
  return {
    samples,
    sharpness: follow(reference.sharpness, sharpness),
    edges: reference.edges.map((mean, index) => follow(mean, edges[index]!)),
  }
}

/** Decodes a signature. Returns undefined if its length is wrong. */
function decodeEdges(text: string): number[] | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== EDGES_LENGTH) return undefined
  return [...new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)]
}

/**
 * Returns the similarity of two scenes: 1 if they are the same, 0 if they have nothing in common
 * (cosine similarity).
 */
export function compareEdges(first: readonly number[], second: readonly number[]): number {
  let product = 0
  let firstSquares = 0
  let secondSquares = 0
  for (const [index, a] of first.entries()) {
    const b = second[index]!
    product += a * b
    firstSquares += a * a
    secondSquares += b * b
  }
  if (firstSquares === 0 || secondSquares === 0) return 0
  return product / Math.sqrt(firstSquares * secondSquares)
}

/** Returns the mean length (root mean square) of the edge vectors. */
const measureLength = (edges: readonly number[]) =>
  Math.sqrt(edges.reduce((sum, value) => sum + value * value, 0) / (edges.length / 2))
