import { type Rgb, scaleColour, toLinearRgb } from '../graphics/colour.ts'
import { clamp, modulo } from '../maths/arithmetic.ts'
import { fractalNoise, hash, valueNoise } from '../maths/noise.ts'
import { type Layout, PARKING_PLACE_M } from './layout.ts'

const WHITE = toLinearRgb(0xd8d6cc)
const KERB = toLinearRgb(0xa8a49c)
const TACTILE = toLinearRgb(0xc8a860)

const GUTTER_WIDTH_M = 0.35
const JOINT_WIDTH_M = 0.018

/**
 * Returns the colour of the ground at (x, y) in metres. Fine grain fades with the
 * distance from the camera.
 */
export type Ground = (x: number, y: number, distance: number) => Rgb

export function createGround(layout: Layout): Ground {
  const { roadNear, roadFar, bayDepth } = layout
  const asphalt = toLinearRgb(layout.paving.asphalt)
  const paving = toLinearRgb(layout.paving.paint)
  return (x, y, distance) => {
    const grain = clamp(1 - distance / 60, 0, 1)
    return y > roadNear && y < roadFar + bayDepth
      ? shadeRoad(layout, asphalt, x, y, grain)
      : shadePavement(layout, paving, x, y, grain)
  }
}

function shadeRoad(layout: Layout, asphalt: Rgb, x: number, y: number, grain: number): Rgb {
  const { roadNear, roadFar, bayDepth } = layout
  const middle = (roadNear + roadFar) / 2
  const speckle = hash(Math.floor(x * 45), Math.floor(y * 45), 4) - 0.5
  const surface = 0.78 + 0.22 * fractalNoise(x * 0.35, y * 0.5, 11, 3) * 2 + 0.22 * grain * speckle
  /** The tracks of the wheels are darker. */
  const tracks = 0.92 + 0.08 * Math.min(1, Math.abs(((y - roadNear) % 3.5) - 1.75 + 0.75) * 1.6)
  let colour: Rgb = [
    asphalt[0] * surface * tracks,
    asphalt[1] * surface * tracks,
    asphalt[2] * surface * tracks,
  ]
  if (isMarked(layout, x, y)) {
    colour = scaleColour(WHITE, 0.8 + 0.3 * fractalNoise(x * 3, y * 3, 21, 3))
  }

  const isStain = fractalNoise(x * 0.6 + 9, y * 0.6, 41, 3) > 0.58
  if (isStain) colour = scaleColour(colour, 0.84)

  const manholeX = modulo(x, 13) - 6
  const manholeY = y - middle - 1.6
  const isManhole = manholeX * manholeX + manholeY * manholeY < 0.1
  if (isManhole) colour = scaleColour(colour, 0.55)

  const fromKerb = Math.min(y - roadNear, roadFar + bayDepth - y)
  const isGutter = fromKerb < GUTTER_WIDTH_M
  return isGutter ? scaleColour(colour, 0.72 + (0.28 * fromKerb) / GUTTER_WIDTH_M) : colour
}

/** Whether a point is covered by a road marking that is not worn. */
function isMarked(layout: Layout, x: number, y: number): boolean {
  const { roadNear, roadFar, bayDepth, crossingX, crossingHalfWidth } = layout
  const middle = (roadNear + roadFar) / 2
  const fromCrossing = Math.abs(x - crossingX)
  const isWorn = (): boolean => fractalNoise(x * 2.2, y * 2.2, 31, 4) <= 0.3

  const isCrossing = y > roadNear + 0.25 && y < roadFar - 0.25 && fromCrossing < crossingHalfWidth
  if (isCrossing) {
    const stripe = Math.floor((y - roadNear - 0.25) / 0.5)
    return stripe % 2 === 0 && !isWorn()
  }

  // Each stop line is on the side from which the cars of its lane come.
  const isBeforeCrossing = x < crossingX === y < middle
  const isStopLine =
    isBeforeCrossing &&
    fromCrossing > crossingHalfWidth + 1.0 &&
    fromCrossing < crossingHalfWidth + 1.35 &&
    y < roadFar
  if (isStopLine && !isWorn()) return true

  const isOpenRoad = fromCrossing > crossingHalfWidth + 1.4
  const isCentreLine = isOpenRoad && Math.abs(y - middle) < 0.06 && modulo(x, 3) < 1.8
  if (isCentreLine && !isWorn()) return true

  if (!bayDepth || !isOpenRoad) return false
  const isEdgeOfBay = Math.abs(y - roadFar) < 0.05
  const isBetweenPlaces = y > roadFar && modulo(x - crossingX, PARKING_PLACE_M) < 0.1
  return isEdgeOfBay || isBetweenPlaces
}

function shadePavement(layout: Layout, paving: Rgb, x: number, y: number, grain: number): Rgb {
  const { roadNear, roadFar, bayDepth, crossingX, crossingHalfWidth } = layout
  const { tile, style } = layout.paving
  const isNear = y <= roadNear

  // The slabs are twice as wide as deep. Every second row may be shifted by half a slab.
  const row = Math.floor(y / (tile * 0.5))
  const shiftedX = style === 0 ? x : x + (row & 1) * tile * 0.5
  const column = Math.floor(shiftedX / tile)
  const isJoint = shiftedX - column * tile < JOINT_WIDTH_M || y - row * tile * 0.5 < JOINT_WIDTH_M
  const shade =
    0.82 +
    0.26 * hash(column, row, 8) +
    0.1 * (fractalNoise(x * 1.3, y * 1.3, 51, 4) - 0.5) +
    0.14 * grain * (hash(Math.floor(x * 60), Math.floor(y * 60), 9) - 0.5)
  let brightness = shade * (0.86 + 0.28 * fractalNoise(x * 0.25, y * 0.25, 61, 4))
  if (isJoint) brightness *= 1 - 0.45 * grain
  let colour = scaleColour(paving, brightness)

  const isDarkSquare = style === 2 && isNear && (Math.floor(x / 4) + Math.floor(y / 4)) % 2 === 0
  if (isDarkSquare) colour = [colour[0] * 0.92, colour[1] * 0.84, colour[2] * 0.78]
  const isChewingGum = isNear && hash(Math.floor(x * 7), Math.floor(y * 7), 71) > 0.9985
  if (isChewingGum) colour = scaleColour(colour, 0.55)

  const fromKerb = isNear ? roadNear - y : y - roadFar - bayDepth
  if (fromKerb < 0.22) return shadeKerb(x, fromKerb)
  const isTactile = fromKerb > 0.25 && fromKerb < 1.0 && Math.abs(x - crossingX) < crossingHalfWidth
  return isTactile ? shadeTactilePaving(x, y) : colour
}

function shadeKerb(x: number, fromEdge: number): Rgb {
  const isGap = modulo(x, 1) < 0.02
  const gap = isGap ? 0.6 : 1
  const weathered = 0.9 + 0.12 * valueNoise(x * 4, 0, 3)
  const colour: Rgb = [
    KERB[0] * weathered * gap,
    KERB[1] * weathered * gap,
    KERB[2] * weathered * gap,
  ]
  return fromEdge < 0.05 ? scaleColour(colour, 0.7) : colour
}

/** Shades the paving before the crossing, whose studs can be felt by blind people. */
function shadeTactilePaving(x: number, y: number): Rgb {
  const studX = modulo(x, 0.11) - 0.055
  const studY = modulo(y, 0.11) - 0.055
  const isStud = studX * studX + studY * studY < 0.0009
  return scaleColour(TACTILE, isStud ? 1.1 : 0.85)
}
