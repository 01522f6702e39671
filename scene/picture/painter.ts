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

/** Smaller objects are not reported. */
const MIN_SAMPLE_COUNT = 8
/** Objects that are farther than 125 metres are not drawn. In 1/metres. */
const MIN_INVERSE_DEPTH = 0.008
/** Radii of objects in metres. */
const CAR_REACH = 3.2
const PERSON_REACH = 1.6
const SIGNAL_REACH = 1.6
/** Maximum length of the shadow of an object in metres. */
const SHADOW_REACH = 4

/** An object in the frame that is being painted. */
interface DrawnObject {
  object: Walker | Car
  class: ObjectClass
  /** Number of the object in this frame, by which the composer counts its visible samples. */
  owner: number
  /** Number of samples that the object covers without occlusion. */
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
  /** Number of objects drawn in this frame. */
  #ownerCount = 0
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
    this.#sunStrength = this.#computeSunStrength(simulation.timeS)
    this.#ownerCount = 0
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

  /** Returns the share of sunlight not blocked by clouds, which pass slowly. */
  #computeSunStrength(timeS: number): number {
    const cloud = 0.5 + 0.5 * sin(timeS * 0.23 + this.#seed) * sin(timeS * 0.071 + 1)
    return 1 - 0.35 * cloud * cloud
  }

  #drawSignal(x: number, y: number, simulation: Simulation): void {
    if (!this.#mayBeVisible(x, y, SIGNAL_REACH)) return
    this.#mesh.clear()
    addSignalLamps(this.#mesh, x, y, simulation.phase)
    this.#draw({ x, y, hx: 0, hy: 1 }, false)
  }

  #drawCar(car: Car): DrawnObject | null {
    if (!this.#mayBeVisible(car.x, car.y, CAR_REACH)) return null
    this.#mesh.clear()
    addCar(this.#mesh, car.appearance, car)
    const halfSize = [car.appearance.length / 2, car.appearance.width / 2] as const
    const drawing = this.#draw({ ...car, halfSize }, true)
    return { object: car, class: 'car', ...drawing }
  }

  #drawPerson(person: Walker): DrawnObject | null {
    if (!this.#mayBeVisible(person.x, person.y, PERSON_REACH)) return null
    this.#mesh.clear()
    addPerson(this.#mesh, person.appearance, person)
    return { object: person, class: 'person', ...this.#draw(person, false) }
  }

  /** Draws the mesh with its shadows. */
  #draw(
    footprint: Footprint,
    isCar: boolean,
  ): Pick<DrawnObject, 'owner' | 'sampleCount' | 'bounds'> {
    this.#ownerCount++
    const owner = this.#ownerCount
    this.#projectedMesh.project(this.#mesh, this.#sunStrength, isCar)
    this.#layers.drawShadow(this.#mesh, this.#projectedMesh)
    this.#layers.drawAmbientOcclusion(footprint)
    const sampleCount = this.#layers.drawSurface(this.#mesh, this.#projectedMesh, owner, !isCar)
    return { owner, sampleCount, bounds: this.#projectedMesh.bounds }
  }

  /**
   * Returns whether an object with a radius of `reach` metres, or its shadow, may be in the
   * picture.
   */
  #mayBeVisible(x: number, y: number, reach: number): boolean {
    const { camera } = this.#world
    const [px, py, inverse] = camera.project(x, y, 0.8, [0, 0, 0]) as [number, number, number]
    if (inverse < MIN_INVERSE_DEPTH) return false
    const body = reach * camera.focal * inverse
    const margin = body + SHADOW_REACH * camera.focal * inverse
    return (
      px >= -margin && px <= camera.width + margin && py >= -body && py <= camera.height + margin
    )
  }

  #toRenderedObject({
    object,
    class: kind,
    owner,
    sampleCount,
    bounds,
  }: DrawnObject): RenderedObject {
    const { camera } = this.#world
    const [footX, footY] = camera.project(object.x, object.y, 0, [0, 0, 0]) as [
      number,
      number,
      number,
    ]
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
