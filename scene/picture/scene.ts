import { Random } from '../maths/random.ts'
import { Simulation } from '../simulation/simulation.ts'
import { generateLayout, type Layout } from '../street/layout.ts'
import { buildStreet } from '../street/street.ts'
import { type Backdrop, createBackdrop, renderBackdrop, type World } from './backdrop.ts'
import { Camera } from './camera.ts'
import { Painter, type RenderedObject } from './painter.ts'
import { ShadowMap } from './shadow-map.ts'

export interface SceneOptions {
  seed: number
  width: number
  height: number
  fps: number
  /** 0 (default): the demo's layout and camera; 1: fully random. See `Layout`. */
  variation?: number
}

/**
 * A simulated and rendered scene. Each thread has its own instance. Threads share only the
 * backdrop.
 */
export class Scene {
  readonly layout: Layout
  readonly simulation: Simulation
  readonly #world: World
  readonly #seed: number
  #painter: Painter | undefined

  constructor({ seed, width, height, fps, variation = 0 }: SceneOptions) {
    const random = new Random(seed * 7919 + 13)
    this.layout = generateLayout(random, variation)
    const street = buildStreet(this.layout, random)
    this.simulation = new Simulation(this.layout, street.obstacles, random, fps)
    const camera = new Camera(this.layout.camera, width, height)
    const shadows = new ShadowMap(this.layout.light.sun, street.triangles)
    this.#seed = seed
    this.#world = { layout: this.layout, camera, triangles: street.triangles, shadows }
  }

  /** Renders one of `bands` horizontal bands of the backdrop. */
  renderBackdrop(backdrop: Backdrop, band = 0, bands = 1): void {
    const { height } = this.#world.camera
    renderBackdrop(
      backdrop,
      this.#world,
      Math.floor((height * band) / bands),
      Math.floor((height * (band + 1)) / bands),
    )
  }

  /**
   * Paints the current frame over a complete backdrop. Writes RGB with three bytes per pixel to
   * `rgb`, and returns the visible objects.
   */
  paint(backdrop: Backdrop, rgb: Uint8ClampedArray): RenderedObject[] {
    this.#painter ??= new Painter(this.#seed, this.#world, backdrop)
    return this.#painter.paint(this.simulation, rgb)
  }
}

export { createBackdrop }
