import type { Rgb } from '../graphics/colour.ts'
import { cos, PI, sin } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'

export type Point = readonly [x: number, y: number]
export type Vector = readonly [x: number, y: number, z: number]

/**
 * The plan of a scene. Metres; x to the right along the street, y away from the camera, z up.
 * From near to far: pavement, road with two lanes, parking bay, far pavement, house fronts.
 */
export interface Layout {
  /** 0: the demo's plan and camera; 1: anything; between: the demo's, disturbed. */
  variation: number
  roadNear: number
  roadFar: number
  /** Depth of the parking bay beyond the road; 0: none. */
  bayDepth: number
  facadeY: number
  crossingX: number
  crossingHalfWidth: number
  camera: { eye: Vector; yaw: number; pitch: number; fieldOfView: number }
  light: Light
  /** Strength of the sensor's noise, in steps of a byte. */
  sensorNoise: number
  peopleCount: number
  /** Mean seconds between two cars of a lane. */
  meanCarGapS: number
  paving: { paint: number; tile: number; style: number; asphalt: number }
}

export interface Light {
  /** Unit vector to the sun. */
  sun: Vector
  sunlight: Rgb
  skylight: Rgb
  groundlight: Rgb
  overcast: number
}

const PAVINGS = [0xb5aa9a, 0xa8a29a, 0xbcae98, 0x9c9890]
const ASPHALTS = [0x55565a, 0x4a4b4e, 0x605f5e]

export function generateLayout(random: Random, variation: number): Layout {
  const draw = (demo: number, low: number, high: number): number =>
    variation === 0 ? demo : demo + variation * (random.between(low, high) - demo)
  const varied = (probability: number): boolean => variation > 0 && random.chance(probability * variation)

  const roadNear = draw(11.5, 9, 15)
  const roadFar = roadNear + 7
  const bay = varied(0.4) ? 0 : 2.2
  const facades = roadFar + bay + draw(5, 3.5, 8)
  const crossingX = draw(3.5, -4, 9)
  const crossingHalfWidth = draw(2.2, 1.6, 2.6)
  const eye: Vector = [draw(-7, -10, 4), draw(-3.5, -6, 1), draw(7.2, 4.5, 11)]
  const yaw = draw(0.3, -0.15, 0.55)
  const fieldOfView = draw(0.74, 0.55, 0.95)
  const pitch = draw(-0.36, -0.3, -0.62)
  const light = generateLight(draw, varied)
  const sensorNoise = draw(3.2, 1, 9)
  const carGapS = draw(3, 3, 10)
  const people = Math.round(draw(18, 5, 22))
  const pavement = random.pick(PAVINGS)
  const tile = draw(0.9, 0.5, 1.3)
  const paving = { paint: pavement, tile, style: random.integer(0, 2), asphalt: random.pick(ASPHALTS) }
  const camera = { eye, yaw, pitch, fieldOfView }
  // biome-ignore format: as declared
  return {
    variation, roadNear, roadFar, bayDepth: bay, facadeY: facades, crossingX, crossingHalfWidth,
    camera, light, sensorNoise, peopleCount: people, meanCarGapS: carGapS, paving,
  }
}

function generateLight(
  draw: (demo: number, low: number, high: number) => number,
  varied: (probability: number) => boolean,
): Light {
  const azimuth = draw(-1.25, -PI, PI)
  const elevation = draw(0.7, 0.35, 1.2)
  let [x, y, z] = [sin(azimuth) * cos(elevation), -cos(azimuth) * cos(elevation), sin(elevation)]
  if (varied(0.75)) y = -Math.abs(y) // mostly behind the camera
  const overcast = varied(0.35) ? draw(0.75, 0.5, 1) : draw(0, 0, 0.35)
  const exposure = draw(0.9, 0.55, 1.35)
  const sky = 0.62 + 0.75 * overcast
  const lit = (r: number, g: number, b: number, k: number): Rgb => [
    r * k * exposure,
    g * k * exposure,
    b * k * exposure,
  ]
  return {
    sun: [x, y, z],
    sunlight: lit(2.15, 1.92, 1.55, 1 - overcast),
    skylight: lit(0.5, 0.6, 0.78, sky),
    groundlight: lit(0.3, 0.28, 0.25, sky),
    overcast,
  }
}
