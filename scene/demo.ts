import type { Outline } from './truth/scene-truth.ts'

/** The rendered scene that a new appliance analyses. */
export const DEMO = {
  seed: 4,
  seconds: 60,
  width: 1280,
  height: 720,
  fps: 25,
}

/** Lines at which objects are counted, in fractions of the picture. */
export const DEMO_LINES: Outline[] = [
  outline('road', [0.398, 0.598], [0.36, 0.445]),
  outline('pavement', [0.28, 1], [0.3, 0.63]),
]

/** Zones in which objects are counted, in fractions of the picture. */
export const DEMO_ZONES: Outline[] = [
  outline('square', [0.44, 0.7], [0.8, 0.62], [0.86, 1], [0.44, 1]),
]

function outline(name: string, ...coords: [x: number, y: number][]): Outline {
  return { name, coords: coords.map(([x, y]) => ({ x, y })) }
}
