import type { Rgb } from '../graphics/colour.ts'
import { cos, PI, sin } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { Vector } from '../maths/vectors.ts'

/** Length of a place in the parking bay. */
export const PARKING_PLACE_M = 5.4

/**
 * The layout of a scene in metres. The x axis points to the right along the street, y away from the
 * camera, z up. From near to far there are a pavement, a road with two lanes, a parking bay,
 * another pavement and the facades.
 */
export interface Layout {
  /** 0: the demo's layout and camera; 1: fully random; in between: a perturbed demo. */
  variation: number
  roadNear: number
  roadFar: number
  /** Depth of the parking bay behind the road; 0 without a parking bay. */
  bayDepth: number
  facadeY: number
  crossingX: number
  crossingHalfWidth: number
  camera: { eye: Vector; yaw: number; pitch: number; fieldOfView: number }
  light: Light
  /** Standard deviation of the sensor noise in byte values. */
  sensorNoise: number
  peopleCount: number
  /** Mean time between two cars of a lane, in seconds. */
  meanCarGapS: number
  paving: { paint: number; tile: number; style: number; asphalt: number }
}

export interface Light {
  /** Unit vector towards the sun. */
  sun: Vector
  sunlight: Rgb
  skylight: Rgb
  groundlight: Rgb
  overcast: number
}

const PAVINGS = [0xb5aa9a, 0xa8a29a, 0xbcae98, 0x9c9890]
const ASPHALTS = [0x55565a, 0x4a4b4e, 0x605f5e]

/** Generates a random layout. Without variation, only the colours and the paving are random. */
export function generateLayout(random: Random, variation: number): Layout {
  const vary = (demo: number, low: number, high: number): number =>
    variation === 0 ? demo : demo + variation * (random.between(low, high) - demo)
  const chance = (probability: number): boolean =>
    variation > 0 && random.chance(probability * variation)

  const roadNear = vary(11.5, 9, 15)
  const roadFar = roadNear + 7
  const bay = chance(0.4) ? 0 : 2.2
  const facades = roadFar + bay + vary(5, 3.5, 8)
  const crossingX = vary(3.5, -4, 9)
  const crossingHalfWidth = vary(2.2, 1.6, 2.6)
  const eye: Vector = [vary(-7, -10, 4), vary(-3.5, -6, 1), vary(7.2, 4.5, 11)]
  const yaw = vary(0.3, -0.15, 0.55)
  const fieldOfView = vary(0.74, 0.55, 0.95)
  const pitch = vary(-0.36, -0.3, -0.62)
  const light = generateLight(vary, chance)
  const sensorNoise = vary(3.2, 1, 9)
  const carGapS = vary(3, 3, 10)
  const people = Math.round(vary(18, 5, 22))
  const pavement = random.pick(PAVINGS)
  const tile = vary(0.9, 0.5, 1.3)
  const paving = {
    paint: pavement,
    tile,
    style: random.integer(0, 2),
    asphalt: random.pick(ASPHALTS),
  }
  const camera = { eye, yaw, pitch, fieldOfView }
  // biome-ignore format: in the order of the interface
  return {
    variation, roadNear, roadFar, bayDepth: bay, facadeY: facades, crossingX, crossingHalfWidth,
    camera, light, sensorNoise, peopleCount: people, meanCarGapS: carGapS, paving,
  }
}

function generateLight(
  vary: (demo: number, low: number, high: number) => number,
  chance: (probability: number) => boolean,
): Light {
  const azimuth = vary(-1.25, -PI, PI)
  const elevation = vary(0.7, 0.35, 1.2)
  let [x, y, z] = [sin(azimuth) * cos(elevation), -cos(azimuth) * cos(elevation), sin(elevation)]
  if (chance(0.75)) y = -Math.abs(y) // mostly behind the camera
  const overcast = chance(0.35) ? vary(0.75, 0.5, 1) : vary(0, 0, 0.35)
  const exposure = vary(0.9, 0.55, 1.35)
  const sky = 0.62 + 0.75 * overcast
  const scaleLight = (r: number, g: number, b: number, k: number): Rgb => [
    r * k * exposure,
    g * k * exposure,
    b * k * exposure,
  ]
  return {
    sun: [x, y, z],
    sunlight: scaleLight(2.15, 1.92, 1.55, 1 - overcast),
    skylight: scaleLight(0.5, 0.6, 0.78, sky),
    groundlight: scaleLight(0.3, 0.28, 0.25, sky),
    overcast,
  }
}
