import { mkdirSync, writeFileSync } from "node:fs";
import { configurationDocument, configurationSchema } from "../../src/config/document.ts";

const root = new URL("../../", import.meta.url);
mkdirSync(new URL("schema/", root), { recursive: true });
writeFileSync(new URL("CONFIGURATION.md", root), configurationDocument());
writeFileSync(new URL("schema/acp.schema.json", root), configurationSchema());
