import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts", "test/unit/**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/no-floating-promises": ["error", { ignoreVoid: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      eqeqeq: "error",
      "no-console": "error",
    },
  },
  {
    // The model is values in, values out; it is tested by node alone.
    files: ["src/model/**/*.ts", "src/protocol.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          paths: [{ name: "vscode", message: "The model and the protocol do not know the editor." }],
          patterns: [{ group: ["vscode-*", "node:*"], message: "The model is pure." }],
        },
      ],
      "no-restricted-globals": ["error", "process"],
    },
  },
  {
    files: ["test/unit/**/*.ts"],
    rules: {
      // node:test collects the promise that test() returns by itself.
      "@typescript-eslint/no-floating-promises": "off",
    },
  },
  {
    files: ["**/*.mjs"],
    languageOptions: {
      globals: Object.fromEntries(
        // Those of Node, and those of the page that the workbench test runs functions in.
        ["URL", "clearTimeout", "console", "document", "fetch", "navigator", "process", "requestAnimationFrame", "setTimeout", "window"].map(
          (name) => [name, "readonly"],
        ),
      ),
    },
  },
);
