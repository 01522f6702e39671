import { addCar } from '../cars/car.ts'
import type { Car } from '../cars/traffic.ts'
import { Mesh } from '../graphics/mesh.ts'
import { clamp, sin } from '../maths/arithmetic.ts'
import { addPerson } from '../people/person.ts'
import type { Walker } from '../people/walkers.ts'
import type { Simulation } from '../simulation/simulation.ts'
import { addSignalLamps, getSignalPositions } from '../street/crossing.ts'
import type { Backdrop, World } from './backdrop.ts'
import { Composer } from './composer.ts'
import type { Footprint } from './layers.ts'
import { Layers } from './layers.ts'
import { type Bounds, ProjectedMesh } from './projected-mesh.ts'
import { Sensor } from './sensor.ts'

export type ObjectClass = 'person' | 'car'

/** An object in a rendered frame. */
export interface RenderedObject {
  track: number
  class: ObjectClass
  /** Bounds in pixels, including occluded parts, clipped to the picture. */
  bounds: Bounds
  /** Share of the part inside the picture that is not occluded, from 0 to 1. */
  visibility: number
  /** Position of the feet in the picture, in pixels. */
  foot: readonly [x: number, y: number]
  /** Position on the ground in metres. */
  ground: readonly [x: number, y: number]
}

const MIN_SAMPLE_COUNT = 8
const MIN_INVERSE_DEPTH = 0.008 // 1/metres

/** An object in the frame that is being painted. */
interface DrawnObject {
  object: Walker | Car
  class: ObjectClass
  owner: number
  sampleCount: number
  bounds: Bounds
}

/** Paints the moving objects of a scene over its backdrop. */
export class Painter {
  readonly #world: World
  readonly #seed: number
  readonly #mesh = new Mesh()
  readonly #projectedMesh: ProjectedMesh
  readonly #layers: Layers
  readonly #composer: Composer
  readonly #sensor: Sensor
  #owners = 0
  #sunStrength = 1

  constructor(seed: number, world: World, backdrop: Backdrop) {
    const { width, height } = world.camera
    this.#seed = seed
    this.#world = world
    this.#projectedMesh = new ProjectedMesh(world)
    this.#layers = new Layers(world, backdrop)
    this.#composer = new Composer(width, height, backdrop, this.#layers)
    this.#sensor = new Sensor(seed, width, height, world.layout.sensorNoise)
  }

  /** Paints the current state of the simulation into `rgb` and returns the visible objects. */
  paint(simulation: Simulation, rgb: Uint8ClampedArray): RenderedObject[] {
    const cloud = 0.5 + 0.5 * sin(simulation.timeS * 0.23 + this.#seed) * sin(simulation.timeS * 0.071 + 1)
    this.#sunStrength = 1 - 0.35 * cloud * cloud
    this.#owners = 0
    this.#layers.clear()
    for (const [x, y] of getSignalPositions(this.#world.layout)) this.#drawSignal(x, y, simulation)
    const drawnObjects = [
      ...simulation.traffic.cars.map(car => this.#drawCar(car)),
      ...simulation.walkers.people.map(person => this.#drawPerson(person)),
    ]
    this.#composer.compose(rgb, this.#sunStrength)
    this.#sensor.expose(rgb, simulation.frame)
    return drawnObjects
      .filter(drawn => drawn !== null)
      .filter(drawn => drawn.sampleCount > MIN_SAMPLE_COUNT)
      .map(drawn => this.#toRenderedObject(drawn))
  }

  #drawSignal(x: number, y: number, simulation: Simulation): void {
    if (!this.#mayBeVisible(x, y, 1.6)) return
    this.#mesh.clear()
    addSignalLamps(this.#mesh, x, y, simulation.phase)
    this.#draw({ x, y, hx: 0, hy: 1 }, false)
  }

  #drawCar(car: Car): DrawnObject | null {
    if (!this.#mayBeVisible(car.x, car.y, 3.2)) return null
    this.#mesh.clear()
    addCar(this.#mesh, car.appearance, car)
    const covered = this.#draw(
      { ...car, halfSize: [car.appearance.length / 2, car.appearance.width / 2] },
      true,
    )
    return {
      object: car,
      class: 'car',
      owner: this.#owners,
      sampleCount: covered,
      bounds: this.#projectedMesh.bounds,
    }
  }

  #drawPerson(person: Walker): DrawnObject | null {
    if (!this.#mayBeVisible(person.x, person.y, 1.6)) return null
    this.#mesh.clear()
    addPerson(this.#mesh, person.appearance, person)
    const covered = this.#draw(person, false)
    return {
      object: person,
      class: 'person',
      owner: this.#owners,
      sampleCount: covered,
      bounds: this.#projectedMesh.bounds,
    }
  }

  /** Draws the mesh with its shadows. Returns the number of samples that it covers without occlusion. */
  #draw(footprint: Footprint, isCar: boolean): number {
    this.#projectedMesh.project(this.#mesh, this.#sunStrength, isCar)
    this.#layers.drawShadow(this.#mesh, this.#projectedMesh)
    this.#layers.drawAmbientOcclusion(footprint)
    return this.#layers.drawSurface(this.#mesh, this.#projectedMesh, ++this.#owners, !isCar)
  }

  /** Returns whether an object with a radius of `reach` metres, or its shadow, may be in the picture. */
  #mayBeVisible(x: number, y: number, reach: number): boolean {
    const { camera } = this.#world
    const [px, py, inverse] = camera.project(x, y, 0.8, [0, 0, 0]) as [number, number, number]
    if (inverse < MIN_INVERSE_DEPTH) return false
    const body = reach * camera.focal * inverse
    const margin = body + 4 * camera.focal * inverse
    return px >= -margin && px <= camera.width + margin && py >= -body && py <= camera.height + margin
  }

  #toRenderedObject({ object, class: kind, owner, sampleCount, bounds }: DrawnObject): RenderedObject {
    const { camera } = this.#world
    const [footX, footY] = camera.project(object.x, object.y, 0, [0, 0, 0]) as [number, number, number]
    return {
      track: object.track,
      class: kind,
      bounds: {
        left: clamp(bounds.left, 0, camera.width),
        top: clamp(bounds.top, 0, camera.height),
        right: clamp(bounds.right, 0, camera.width),
        bottom: clamp(bounds.bottom, 0, camera.height),
      },
      visibility: this.#composer.visibleSamples[owner]! / sampleCount,
      foot: [footX, footY],
      ground: [object.x, object.y],
    }
  }
}
