import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Appliance } from '../fixtures/processes/appliance.ts'
import { findProcesses, readCommandLines } from '../fixtures/processes/processes.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import {
  administrator,
  attackerRequirement,
  readSecrets,
  runAsAttacker,
} from './attacked-appliance.ts'

// The attacker is another user of the machine, who can run programs there.

export const attackByNeighbour = (appliance: Appliance) =>
  it('another user of the machine reads neither files, frames and memory nor secrets, and stops nothing', {
    ...needs(attackerRequirement),
    timeout: 240_000,
  }, async () => {
    const { data } = appliance
    const [, ring = ''] = readFileSync(join(data, 'ring-path'), 'utf8').split('\n')
    const processes = findProcesses(data)
    expect(processes.length).toBeGreaterThanOrEqual(4)

    const readable = runAsAttacker(`find '${data}' -type f -readable`)
    expect(readable.output).toBe('')
    const attempts = [
      `ls '${data}/secrets'`,
      `ls '${ring}'`,
      `touch '${ring}/other.ring'`,
      ...processes.flatMap(pid => [
        ...['environ', 'maps', 'mem', 'fd/0'].map(name => `head -c 1 /proc/${pid}/${name} && true`),
        `ls /proc/${pid}/fd`,
        `readlink /proc/${pid}/cwd`,
        `kill -STOP ${pid}`,
      ]),
    ]
    expect(attempts.filter(attempt => runAsAttacker(attempt).succeeded)).toEqual([])

    const secrets = [...readSecrets(appliance).values(), administrator.password]
    expect(secrets.length).toBeGreaterThan(3)
    const visible = `${readCommandLines(data)}\n${appliance.lines.join('\n')}`
    expect(secrets.filter(secret => visible.includes(secret))).toEqual([])
  })
