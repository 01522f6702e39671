import { defineConfig } from 'drizzle-kit'

/** For `npx drizzle-kit generate --config services/management/db/drizzle.config.ts --name <what changes>`. */
export default defineConfig({
  dialect: 'postgresql',
  schema: './services/management/db/schema/index.ts',
  out: './services/management/db/migrations',
})
