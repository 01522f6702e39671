import { randomInt } from 'node:crypto'
import { soakKills } from './kills.ts'
import { soakMemory } from './memory.ts'

/** Defects that show only after a while: node test/soak/main.ts [minutes] [kills] [seed]. */
const [minutes = 10, kills = 200, seed = randomInt(2 ** 31)] = process.argv.slice(2).map(Number)

const passed = [await soakKills(kills, seed), await soakMemory(minutes)]
process.exit(passed.every(Boolean) ? 0 : 1)
