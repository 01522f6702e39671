import { type Rgb, scaleColour, toLinearRgb } from '../graphics/colour.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import { hash } from '../maths/noise.ts'
import type { Side } from '../maths/vectors.ts'
import type { BodyPose } from './body-pose.ts'

const PHONE = toLinearRgb(0x101014)

// Profiles: position between the joints (0 to 1), and radius in metres.
// biome-ignore format: table
const UPPER_ARM = [
  [-0.1, 0.02], [-0.05, 0.052], [0.1, 0.06], [0.4, 0.053], [0.75, 0.046], [1, 0.043],
] as const
// biome-ignore format: table
const FOREARM_AND_HAND = [
  [0.15, 0.043], [0.5, 0.039], [0.9, 0.03], [1, 0.03], [1.06, 0.036], [1.2, 0.04], [1.36, 0.03],
  [1.42, 0.008],
] as const
/** First ring of the hand, and of the part of an arm that short sleeves leave bare. */
const HAND_RING = 9
const BARE_ARM_RING = 4

/** The rings of a bag from top to bottom: height above its centre and half width, in metres. */
const BAG = [
  [0.12, 0.02],
  [0.11, 0.05],
  [0, 0.055],
  [-0.13, 0.05],
  [-0.14, 0.01],
] as const

/**
 * The joints of an arm in metres: forward offsets, and heights above the ground.
 * Angles are in radians.
 */
interface Arm {
  side: Side
  /** Whether the hand holds a phone in front of the body. */
  holdsPhone: boolean
  upperAngle: number
  foreAngle: number
  shoulderForward: number
  shoulderUp: number
  /** Offsets from the shoulder. */
  elbowForward: number
  elbowUp: number
  wristForward: number
  wristUp: number
  /** Distance of the shoulder from the axis of the body. */
  shoulderWidth: number
}

/** Adds an arm with the phone or bag in its hand. */
export function addArm(pose: BodyPose, side: Side): void {
  const arm = computeArm(pose, side)
  const { girth, scale, appearance } = pose
  const { shoulderForward, shoulderUp, elbowForward, elbowUp, wristForward, wristUp } = arm

  for (const [share, radius] of UPPER_ARM) {
    pose.addRing({
      forward: shoulderForward + elbowForward * share,
      right: getArmOffset(pose, arm, share),
      height: shoulderUp + elbowUp * share + 0.015,
      width: radius * girth,
      depth: radius * girth,
      axis: [cos(arm.upperAngle), sin(arm.upperAngle)],
    })
  }
  for (const [share, radius] of FOREARM_AND_HAND) {
    const isHand = share > 1
    pose.addRing({
      forward: shoulderForward + elbowForward + (wristForward - elbowForward) * share,
      right: getArmOffset(pose, arm, 1) - (arm.holdsPhone ? side * 0.09 * share * scale : 0),
      height: shoulderUp + elbowUp + (wristUp - elbowUp) * share,
      width: radius * girth,
      depth: radius * girth * (isHand ? 0.7 : 1),
      axis: [cos(arm.foreAngle), sin(arm.foreAngle)],
    })
  }
  pose.mesh.loft({ sides: 8, colour: ring => getArmColour(pose, side, ring) })

  if (arm.holdsPhone) addPhone(pose, arm)
  else if (appearance.bag && side > 0) addBag(pose, arm, appearance.bag)
}

/** Arms swing against the legs, unless the hand holds a phone. */
function computeArm(pose: BodyPose, side: Side): Arm {
  const { stance, appearance, scale, girth } = pose
  const phase = stance.gaitPhase + (side > 0 ? 0 : TAU / 2)
  const holdsPhone = appearance.phone && side > 0
  const upperAngle = holdsPhone
    ? 0.35
    : ((0.52 * pose.swing) / 0.46) * sin(phase) * 0.8 - 0.02 + pose.lean
  const elbowAngle = holdsPhone ? 1.9 : 0.18 + 0.28 * stance.walking * (1 + sin(phase)) * 0.6
  const foreAngle = upperAngle + elbowAngle
  const upperLength = 0.285 * scale
  const foreLength = 0.255 * scale
  const shoulderWidth = (appearance.female ? 0.172 : 0.197) * girth

  const elbowForward = upperLength * sin(upperAngle)
  const elbowUp = -upperLength * cos(upperAngle)
  return {
    side,
    holdsPhone,
    upperAngle,
    foreAngle,
    shoulderForward: pose.leanAt(0.455) + side * -1 * sin(1.2 * pose.twist) * shoulderWidth,
    shoulderUp: pose.heightAt(0.455),
    elbowForward,
    elbowUp,
    wristForward: elbowForward + foreLength * sin(foreAngle),
    wristUp: elbowUp - foreLength * cos(foreAngle),
    shoulderWidth,
  }
}

/**
 * Returns the distance of the upper arm from the axis of the body, to the right, at a share of
 * the way to the elbow.
 */
const getArmOffset = ({ girth }: BodyPose, { side, shoulderWidth }: Arm, share: number) =>
  side * shoulderWidth * 0.98 + side * 0.06 * girth * share

function getArmColour({ appearance }: BodyPose, side: Side, ring: number): Rgb {
  const { top, accent, skin, pattern, coat, shortSleeves, salt } = appearance
  if (ring >= HAND_RING || (shortSleeves && ring >= BARE_ARM_RING)) return skin
  if (pattern === 'shoulders' && !coat) return accent
  const isStripe = pattern === 'stripes' && ring % 2 === 1 && !coat
  return scaleColour(isStripe ? accent : top, 0.92 + 0.14 * hash(ring, side, salt + 2))
}

function addPhone(pose: BodyPose, arm: Arm): void {
  const { hx, hy } = pose.stance
  const right = getArmOffset(pose, arm, 1) - arm.side * 0.1 * pose.scale
  const [x, y] = pose.toGround(arm.shoulderForward + arm.wristForward + 0.03, right)
  pose.mesh.addEllipsoid({
    centre: [x, y, arm.shoulderUp + arm.wristUp + 0.08],
    radii: [0.03, 0.012, 0.06],
    heading: [hx, hy],
    sides: 6,
    rings: 4,
    colour: PHONE,
    gloss: 0.6,
  })
}

function addBag(pose: BodyPose, arm: Arm, colour: Rgb): void {
  const { scale } = pose
  const centreHeight = arm.shoulderUp + arm.wristUp - 0.22 * scale
  for (const [height, width] of BAG) {
    pose.addRing({
      forward: arm.shoulderForward + arm.wristForward,
      right: getArmOffset(pose, arm, 1) + 0.02,
      height: centreHeight + height * scale,
      width: width * scale,
      depth: width * 3 * scale,
    })
  }
  pose.mesh.loft({ sides: 8, colour, gloss: 0.08, squareness: 0.6 })
}
