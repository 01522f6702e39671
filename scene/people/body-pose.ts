import type { Mesh } from '../graphics/mesh.ts'
import { clamp, cos, sin, TAU } from '../maths/arithmetic.ts'
import type { PersonAppearance } from './person-appearance.ts'

/** Where a person stands (metres), looks to (unit vector) and is in the stride. */
export interface Stance {
  x: number
  y: number
  hx: number
  hy: number
  /** Phase of the gait in radians; one stride (two steps) is a turn. */
  gaitPhase: number
  /** 0 standing to 1 walking. */
  walking: number
}

export const SIDES = [-1, 1] as const

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

/** A body in its posture: where its joints are, and how to put rings around its limbs. */
export class BodyPose {
  readonly mesh: Mesh
  readonly appearance: PersonAppearance
  readonly stance: Stance
  /** Height over that of the 1.75 m model, and the same for girths. */
  readonly scale: number
  readonly girth: number
  readonly swing: number
  readonly lean: number
  readonly twist: number
  readonly legs: Leg[]
  readonly pelvis: number

  constructor(mesh: Mesh, look: PersonAppearance, stance: Stance) {
    const { gaitPhase, walking } = stance
    const k = look.height / 1.75
    this.mesh = mesh
    this.appearance = look
    this.stance = stance
    this.scale = k
    this.girth = look.width * k
    this.swing = (0.05 + 0.36 * walking) * look.swing * (walking > 0.02 ? 1 : 0.35)
    this.lean = look.lean + 0.03 * walking
    this.twist = 0.12 * walking * sin(gaitPhase)
    this.legs = SIDES.map(side => this.#leg(side))
    const lowest = Math.min(...this.legs.map(leg => leg.ankleUp - 0.05 * k * Math.abs(leg.foot)))
    this.pelvis = -lowest + 0.075 * k
  }

  #leg(side: number): Leg {
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

  /** Height above the ground of a point of the torso, in metres of the 1.75 m model. */
  heightAt(z: number): number {
    return this.pelvis + z * this.scale
  }

  leanAt(z: number): number {
    return this.lean * z * this.scale
  }

  toGround(forward: number, right: number): [number, number] {
    const { x, y, hx, hy } = this.stance
    return [x + hx * forward + hy * right, y + hy * forward - hx * right]
  }

  /** A ring with half axis a to the right and b along (of, oz), forward and up; turned by `twist`. */
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
