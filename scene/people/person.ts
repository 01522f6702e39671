import type { Mesh } from '../graphics/mesh.ts'
import { SIDES } from '../maths/vectors.ts'
import { addArm } from './arm.ts'
import { BodyPose, type Stance } from './body-pose.ts'
import { addHead } from './head.ts'
import { addLeg } from './leg.ts'
import type { PersonAppearance } from './person-appearance.ts'
import { addBackpack, addSkirt, addTorso } from './torso.ts'

/** Adds a walking or standing person to a mesh. */
export function addPerson(mesh: Mesh, appearance: PersonAppearance, stance: Stance): void {
  const pose = new BodyPose(mesh, appearance, stance)
  for (const leg of pose.legs) addLeg(pose, leg)
  addTorso(pose)
  if (appearance.skirt || appearance.coat) addSkirt(pose)
  for (const side of SIDES) addArm(pose, side)
  addHead(pose)
  if (appearance.backpack) addBackpack(pose, appearance.backpack)
}
