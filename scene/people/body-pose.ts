import type { Mesh } from '../graphics/mesh.ts'
import { clamp, cos, sin, TAU } from '../maths/arithmetic.ts'
import type { PersonAppearance } from './person-appearance.ts'

/** The state of a walking or standing person: position in metres, heading (hx, hy) as a unit vector, and gait. */
export interface Stance {
  x: number
  y: number
  hx: number
  hy: number
  /** Phase of the gait in radians; 2π is one stride (two steps). */
  gaitPhase: number
  /** 0: standing, 1: walking at normal speed. */
  walking: number
}

export const SIDES = [-1, 1] as const

/** The joints of a leg: offsets from the hip in metres, and angles in radians. */
export interface Leg {
  side: number
  kneeForward: number
  kneeUp: number
  ankleForward: number
  ankleUp: number
  thigh: number
  shin: number
  foot: number
}

/** The joints of a body, and a local coordinate system for the rings around its limbs. */
export class BodyPose {
  readonly mesh: Mesh
  readonly appearance: PersonAppearance
  readonly stance: Stance
  /** Factors for lengths and girths, relative to a model body of 1.75 m. */
  readonly scale: number
  readonly girth: number
  readonly swing: number
  readonly lean: number
  readonly twist: number
  readonly legs: Leg[]
  readonly pelvis: number

  constructor(mesh: Mesh, appearance: PersonAppearance, stance: Stance) {
    const { gaitPhase, walking } = stance
    const k = appearance.height / 1.75
    this.mesh = mesh
    this.appearance = appearance
    this.stance = stance
    this.scale = k
    this.girth = appearance.width * k
    this.swing = (0.05 + 0.36 * walking) * appearance.swing * (walking > 0.02 ? 1 : 0.35)
    this.lean = appearance.lean + 0.03 * walking
    this.twist = 0.12 * walking * sin(gaitPhase)
    this.legs = SIDES.map(side => this.#computeLeg(side))
    const lowest = Math.min(...this.legs.map(leg => leg.ankleUp - 0.05 * k * Math.abs(leg.foot)))
    this.pelvis = -lowest + 0.075 * k
  }

  #computeLeg(side: number): Leg {
    const { gaitPhase, walking } = this.stance
    const p = gaitPhase + (side > 0 ? TAU / 2 : 0)
    const thigh = this.swing * sin(p) + 0.05 * walking
    const lift = Math.max(0, cos(p + 0.3))
    const knee = 0.06 + walking * (0.78 * lift * lift + 0.1 * Math.max(0, sin(p)))
    const upper = 0.43 * this.scale
    const lower = 0.42 * this.scale
    const kneeForward = upper * sin(thigh)
    const kneeUp = -upper * cos(thigh)
    const shin = thigh - knee
    return {
      side,
      kneeForward,
      kneeUp,
      ankleForward: kneeForward + lower * sin(shin),
      ankleUp: kneeUp - lower * cos(shin),
      thigh,
      shin,
      foot: clamp(shin * 0.75 + (sin(p) > 0.2 ? 0.15 * walking : 0), -0.9, 0.5) * walking,
    }
  }

  /** Returns the height above the ground of a point of the torso. `z` is its height above the pelvis of the model in metres. */
  heightAt(z: number): number {
    return this.pelvis + z * this.scale
  }

  /** Returns the forward offset of a point of the torso, due to leaning. */
  leanAt(z: number): number {
    return this.lean * z * this.scale
  }

  /** Converts an offset from the body's axis to ground coordinates. */
  toGround(forward: number, right: number): [number, number] {
    const { x, y, hx, hy } = this.stance
    return [x + hx * forward + hy * right, y + hy * forward - hx * right]
  }

  /** Adds a ring with semi-axis `a` to the right and `b` along (of, oz), which are forward and up, rotated by `twist`. */
  addRing(forward: number, right: number, z: number, a: number, b: number, of = 1, oz = 0, twist = 0): void {
    const { hx, hy } = this.stance
    const [x, y] = this.toGround(forward, right)
    const c = cos(twist)
    const d = sin(twist)
    // biome-ignore format: centre, right axis, other axis
    this.mesh.addRing(
      x, y, z,
      (hy * c + hx * d) * a, (-hx * c + hy * d) * a, 0,
      (hx * of * c - hy * d * of) * b, (hy * of * c + hx * d * of) * b, oz * b,
    )
  }
}
