import type { Mesh } from '../picture/mesh.ts'
import { addArm } from './arms.ts'
import { addHead } from './head.ts'
import { addLeg } from './legs.ts'
import type { PersonLook } from './look.ts'
import { Pose, SIDES, type Stance } from './pose.ts'
import { addBackpack, addSkirt, addTorso } from './torso.ts'

/** Adds a walking or standing person to the mesh. */
export function addPerson(mesh: Mesh, look: PersonLook, stance: Stance): void {
  const pose = new Pose(mesh, look, stance)
  for (const leg of pose.legs) addLeg(pose, leg)
  addTorso(pose)
  if (look.skirt || look.coat) addSkirt(pose)
  for (const side of SIDES) addArm(pose, side)
  addHead(pose)
  if (look.backpack) addBackpack(pose, look.backpack)
}
