import { type Rgb, scaleColour, toLinearRgb } from '../graphics/colour.ts'
import { clamp, modulo } from '../maths/arithmetic.ts'
import { fractalNoise, hash, valueNoise } from '../maths/noise.ts'
import type { Layout } from './layout.ts'

const WHITE = toLinearRgb(0xd8d6cc)
const KERB = toLinearRgb(0xa8a49c)
const TACTILE = toLinearRgb(0xc8a860)

/** Returns the colour of the ground at (x, y) in metres. Fine grain fades with the distance from the camera. */
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
  const tracks = 0.92 + 0.08 * Math.min(1, Math.abs(((y - roadNear) % 3.5) - 1.75 + 0.75) * 1.6)
  let c: Rgb = [asphalt[0] * surface * tracks, asphalt[1] * surface * tracks, asphalt[2] * surface * tracks]
  if (isMarked(layout, x, y)) c = scaleColour(WHITE, 0.8 + 0.3 * fractalNoise(x * 3, y * 3, 21, 3))
  if (fractalNoise(x * 0.6 + 9, y * 0.6, 41, 3) > 0.58) c = scaleColour(c, 0.84) // stains
  const manholeX = modulo(x, 13) - 6
  const manholeY = y - middle - 1.6
  if (manholeX * manholeX + manholeY * manholeY < 0.1) c = scaleColour(c, 0.55)
  const gutter = Math.min(y - roadNear, roadFar + bayDepth - y)
  return gutter < 0.35 ? scaleColour(c, 0.72 + (0.28 * gutter) / 0.35) : c
}

/** Whether a point is covered by a road marking that is not worn. */
function isMarked(layout: Layout, x: number, y: number): boolean {
  const { roadNear, roadFar, bayDepth, crossingX, crossingHalfWidth } = layout
  const middle = (roadNear + roadFar) / 2
  const fromCrossing = Math.abs(x - crossingX)
  const worn = (): boolean => fractalNoise(x * 2.2, y * 2.2, 31, 4) <= 0.3
  if (y > roadNear + 0.25 && y < roadFar - 0.25 && fromCrossing < crossingHalfWidth)
    return Math.floor((y - roadNear - 0.25) / 0.5) % 2 === 0 && !worn()
  const isStopLine =
    fromCrossing > crossingHalfWidth + 1.0 && fromCrossing < crossingHalfWidth + 1.35 && y < roadFar
  if (isStopLine && x < crossingX === y < middle && !worn()) return true
  const isOpenRoad = fromCrossing > crossingHalfWidth + 1.4
  if (isOpenRoad && Math.abs(y - middle) < 0.06 && modulo(x, 3) < 1.8 && !worn()) return true
  if (!bayDepth || !isOpenRoad) return false
  return Math.abs(y - roadFar) < 0.05 || (y > roadFar && modulo(x - crossingX, 5.4) < 0.1)
}

function shadePavement(layout: Layout, paving: Rgb, x: number, y: number, grain: number): Rgb {
  const { roadNear, roadFar, bayDepth, crossingX, crossingHalfWidth } = layout
  const { tile, style } = layout.paving
  const near = y <= roadNear
  const row = Math.floor(y / (tile * 0.5))
  const shifted = style === 0 ? x : x + (row & 1) * tile * 0.5
  const column = Math.floor(shifted / tile)
  const joint = shifted - column * tile < 0.018 || y - row * tile * 0.5 < 0.018
  const shade =
    0.82 +
    0.26 * hash(column, row, 8) +
    0.1 * (fractalNoise(x * 1.3, y * 1.3, 51, 4) - 0.5) +
    0.14 * grain * (hash(Math.floor(x * 60), Math.floor(y * 60), 9) - 0.5)
  let k = shade * (0.86 + 0.28 * fractalNoise(x * 0.25, y * 0.25, 61, 4))
  if (joint) k *= 1 - 0.45 * grain
  let c = scaleColour(paving, k)
  if (style === 2 && near && (Math.floor(x / 4) + Math.floor(y / 4)) % 2 === 0)
    c = [c[0] * 0.92, c[1] * 0.84, c[2] * 0.78]
  if (near && hash(Math.floor(x * 7), Math.floor(y * 7), 71) > 0.9985) c = scaleColour(c, 0.55) // chewing gum
  const fromKerb = near ? roadNear - y : y - roadFar - bayDepth
  if (fromKerb < 0.22) {
    const gap = modulo(x, 1) < 0.02 ? 0.6 : 1
    const weathered = 0.9 + 0.12 * valueNoise(x * 4, 0, 3)
    c = [KERB[0] * weathered * gap, KERB[1] * weathered * gap, KERB[2] * weathered * gap]
    if (fromKerb < 0.05) c = scaleColour(c, 0.7)
  }
  if (fromKerb > 0.25 && fromKerb < 1.0 && Math.abs(x - crossingX) < crossingHalfWidth) {
    const bx = modulo(x, 0.11) - 0.055
    const by = modulo(y, 0.11) - 0.055
    c = scaleColour(TACTILE, bx * bx + by * by < 0.0009 ? 1.1 : 0.85)
  }
  return c
}
