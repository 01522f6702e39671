// @module-tag long

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { findAccountById } from '@eyrie/kit/accounts/account'
import { describe, expect, it } from 'vitest'
import {
  NO_CAPABILITIES,
  readPrivileges,
  readSeparation,
} from '../fixtures/processes/privileges.ts'
import { findServicePid } from '../fixtures/processes/processes.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { shared } from '../fixtures/setup/shared.ts'
import { attackByAdministrator } from './administrator.ts'
import { accounts, startAttackedAppliance } from './attacked-appliance.ts'
import { attackByCamera } from './camera.ts'
import { attackByFiles } from './files.ts'
import { attackByNeighbour } from './neighbour.ts'

for (const account of accounts) {
  describe(`an appliance that ${account.name} started`, needs(account.requirement), () => {
    const appliance = shared(
      () => startAttackedAppliance(account),
      ({ remove }) => remove(),
    )

    if (account.uid !== 0) {
      it('reports that its services are not separated from each other', async () => {
        const reason = new RegExp(
          `run as the user ${findAccountById(account.uid).name} and can read the files of each other`,
        )
        await appliance.waitForLine(reason)
        for (const service of ['media', 'engine', 'management', 'scheduler'] as const) {
          expect(readPrivileges(findServicePid(appliance.data, service)), service).toMatchObject({
            uid: account.uid,
            capabilities: [NO_CAPABILITIES],
          })
        }
        expect(await readSeparation(appliance.mediaUrl)).toEqual({
          level: 'partial',
          missing: [expect.stringMatching(reason)],
        })
        expect(lstatSync(join(appliance.data, 'secrets')).mode & 0o777).toBe(0o700)
      })
    }
    attackByNeighbour(appliance)
    attackByFiles(appliance)
    attackByAdministrator(appliance)
    attackByCamera(appliance)
  })
}
