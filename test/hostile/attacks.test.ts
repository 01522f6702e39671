import { describe } from 'vitest'
import { needs } from '../fixtures/requirements/needs.ts'
import { shared } from '../fixtures/setup/shared.ts'
import { attackByAdministrator } from './administrator.ts'
import { accounts, startAttackedAppliance } from './attacked-appliance.ts'
import { attackByCamera } from './camera.ts'
import { attackByFiles } from './files.ts'
import { attackByNeighbour } from './neighbour.ts'

for (const account of accounts)
  describe(`an appliance that ${account.name} started`, needs(account.requirement), () => {
    const appliance = shared(
      () => startAttackedAppliance(account),
      ({ remove }) => remove(),
    )

    attackByNeighbour(appliance)
    attackByFiles(appliance)
    attackByAdministrator(appliance)
    attackByCamera(appliance)
  })
