import type { Mesh } from '../graphics/mesh.ts'
import { BodyPose, SIDES, type Stance } from './body-pose.ts'
import { addHead } from './head.ts'
import { addArm, addLeg } from './limbs.ts'
import type { PersonAppearance } from './person-appearance.ts'
import { addBackpack, addSkirt, addTorso } from './torso.ts'

/** Adds a walking or standing person to the mesh. */
export function addPerson(mesh: Mesh, look: PersonAppearance, stance: Stance): void {
  const pose = new BodyPose(mesh, look, stance)
  for (const leg of pose.legs) addLeg(pose, leg)
  addTorso(pose)
  if (look.skirt || look.coat) addSkirt(pose)
  for (const side of SIDES) addArm(pose, side)
  addHead(pose)
  if (look.backpack) addBackpack(pose, look.backpack)
}
