import type { Mesh } from '../graphics/mesh.ts'
import { clamp, cos, sin, TAU } from '../maths/arithmetic.ts'
import { type Point, SIDES, type Side, toGround } from '../maths/vectors.ts'
import type { PersonAppearance } from './person-appearance.ts'

/**
 * The state of a walking or standing person: position in metres, heading (hx, hy) as a
 * unit vector, and gait.
 */
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

/**
 * The joints of a leg: offsets from the hip in metres, and the angles of thigh, shin
 * and foot in radians.
 */
export interface Leg {
  side: Side
  kneeForward: number
  kneeUp: number
  ankleForward: number
  ankleUp: number
  thigh: number
  shin: number
  foot: number
}

/** An elliptical ring around the torso or a limb. Lengths are in metres. */
interface BodyRing {
  /** Distance of the centre from the axis of the body, forward and to the right. */
  forward: number
  right?: number
  /** Height of the centre above the ground. */
  height: number
  /** Semi-axis to the right. */
  width: number
  /** Semi-axis along `axis`. */
  depth: number
  /** Direction as a unit vector. Default: forward. */
  axis?: readonly [forward: number, up: number]
  /** Rotation about the vertical, in radians. */
  twist?: number
}

const FORWARD = [1, 0] as const
/** Height in metres of the model body, whose lengths are scaled to those of a person. */
export const MODEL_HEIGHT = 1.75

/** The joints of a body, and a local coordinate system for the rings around its limbs. */
export class BodyPose {
  readonly mesh: Mesh
  readonly appearance: PersonAppearance
  readonly stance: Stance
  /** Factors for lengths and girths, relative to the model body. */
  readonly scale: number
  readonly girth: number
  /** Largest angle of the thighs, in radians. */
  readonly swing: number
  /** Forward inclination of the torso: its offset per metre of height. */
  readonly lean: number
  /** Rotation of the shoulders about the vertical, in radians. */
  readonly twist: number
  readonly legs: Leg[]
  /** Height of the pelvis above the ground. The lower foot is on the ground. */
  readonly pelvis: number

  constructor(mesh: Mesh, appearance: PersonAppearance, stance: Stance) {
    const { gaitPhase, walking } = stance
    const k = appearance.height / MODEL_HEIGHT
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

  #computeLeg(side: Side): Leg {
    const { gaitPhase, walking } = this.stance
    const phase = gaitPhase + (side > 0 ? TAU / 2 : 0)
    const thighLength = 0.43 * this.scale
    const shinLength = 0.42 * this.scale

    const thigh = this.swing * sin(phase) + 0.05 * walking
    const lift = Math.max(0, cos(phase + 0.3))
    const knee = 0.06 + walking * (0.78 * lift * lift + 0.1 * Math.max(0, sin(phase)))
    const shin = thigh - knee
    const heelLift = sin(phase) > 0.2 ? 0.15 * walking : 0

    const kneeForward = thighLength * sin(thigh)
    const kneeUp = -thighLength * cos(thigh)
    return {
      side,
      kneeForward,
      kneeUp,
      ankleForward: kneeForward + shinLength * sin(shin),
      ankleUp: kneeUp - shinLength * cos(shin),
      thigh,
      shin,
      foot: clamp(shin * 0.75 + heelLift, -0.9, 0.5) * walking,
    }
  }

  /**
   * Returns the height above the ground of a point of the torso. `z` is its height above the pelvis
   * of the model in metres.
   */
  heightAt(z: number): number {
    return this.pelvis + z * this.scale
  }

  /** Returns the forward offset of a point of the torso, due to leaning. */
  leanAt(z: number): number {
    return this.lean * z * this.scale
  }

  /** Converts an offset from the body's axis to ground coordinates. */
  toGround(forward: number, right: number): Point {
    return toGround(this.stance, forward, right)
  }

  /** Adds a ring to the mesh. */
  addRing({ forward, right = 0, height, width, depth, axis = FORWARD, twist = 0 }: BodyRing): void {
    const { hx, hy } = this.stance
    const [axisForward, axisUp] = axis
    const [x, y] = this.toGround(forward, right)
    const c = cos(twist)
    const s = sin(twist)
    // biome-ignore format: one vector per line
    this.mesh.addRing(
      [x, y, height],
      [(hy * c + hx * s) * width, (-hx * c + hy * s) * width, 0],
      [(hx * axisForward * c - hy * s * axisForward) * depth, (hy * axisForward * c + hx * s * axisForward) * depth, axisUp * depth],
    )
  }
}
