import type { Outline } from './truth.ts'

/** The demo scene that a new appliance analyses, and what it counts there: 0..1 of the picture. */
export const DEMO = {
  seed: 7,
  seconds: 60,
  width: 1280,
  height: 720,
  fps: 25,
}

export const DEMO_LINES: Outline[] = [
  {
    name: 'road',
    coords: [
      { x: 0.42, y: 0.62 },
      { x: 0.37, y: 0.4 },
    ],
  },
  {
    name: 'pavement',
    coords: [
      { x: 0.6, y: 0.99 },
      { x: 0.62, y: 0.6 },
    ],
  },
]

export const DEMO_ZONES: Outline[] = [
  {
    name: 'crossing',
    coords: [
      { x: 0.545, y: 0.42 },
      { x: 0.7, y: 0.41 },
      { x: 0.785, y: 0.52 },
      { x: 0.61, y: 0.55 },
    ],
  },
]
