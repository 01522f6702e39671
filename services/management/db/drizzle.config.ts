import { defineConfig } from 'drizzle-kit'

/**
 * Configuration of drizzle-kit, which generates a migration from changes of the schema:
 * `npx drizzle-kit generate --config services/management/db/drizzle.config.ts --name <change>`.
 * Add `--custom` for an empty migration, in which policies and triggers are written by hand.
 */
export default defineConfig({
  dialect: 'postgresql',
  schema: './services/management/db/schema/index.ts',
  out: './services/management/db/migrations',
})
