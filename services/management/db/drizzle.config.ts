import { defineConfig } from 'drizzle-kit'

/**
 * Generates a migration from changes of the schema:
 * `npx drizzle-kit generate --config services/management/db/drizzle.config.ts --name <change>`. Policies and triggers go
 * into a migration of their own (`--custom`).
 */
export default defineConfig({
  dialect: 'postgresql',
  schema: './services/management/db/schema/index.ts',
  out: './services/management/db/migrations',
})
