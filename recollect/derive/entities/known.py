"""Names that are known beforehand, by type: what a word alone cannot tell. Short lists of the frequent, all folded."""

from __future__ import annotations

import re

_FIRST_NAMES = """
    aaron abby abdul abigail adam adrian ahmed aidan aisha alan albert alejandro alex alexander alexandra alexis
    alfred ali alice alicia alina alison allison amanda amelia amir amy ana anastasia andre andrea andreas andrew
    andy angela anita anna anne annie anthony antonio arjun arthur ashley audrey barbara beatriz becky ben benjamin
    bernard beth betty bob bobby brad brandon brenda brian bruce bryan calvin camila carl carla carlos carmen carol
    caroline catherine cathy cecilia charles charlie charlotte chen chloe chris christian christina christine
    christopher claire clara claudia connor craig cristina cynthia daniel daniela danny dave david deborah debra
    dennis derek diana diane diego dmitri donald donna dorothy doug douglas duncan dylan eddie edward elena eleanor
    eli elias elijah elizabeth ella ellen emily emma enrico eric erik erika erin ethan eugene eva evan evelyn fatima
    felix fernando fiona florian francesca francis francisco frederick gabriel gary george gerald gina gordon greg
    gregory hannah hans harold harry hassan heidi helen helena henry hiroshi howard hugo ian ibrahim igor ines
    ingrid irene isaac isabel isabella ivan jack jackie jackson jacob jake james jamie jan jane janet jason jean
    jeff jeffrey jenna jennifer jenny jeremy jerry jesse jessica jim jimmy joan joanna joe joel johanna john johnny
    jonas jonathan jordan jorge jose joseph josh joshua juan judith judy julia julian julie justin karen karl kate
    katherine kathleen katie kayla keith kelly ken kenji kenneth kevin kim klaus kristen kurt kyle lara larry lars
    laura lauren leah lena leo leon leonardo liam linda lisa logan louis lucas lucia lucy luis luke luna madison
    manuel marco marcus margaret maria mariana marie marina mario marta martha martin mary mateo matt matthew maya
    megan mei melanie melissa michael michelle miguel mike mikhail mohamed mohammed monica nancy naomi natalie
    natasha nathan neil nicholas nick nicole nikolai nina noah nora olga oliver olivia omar oscar pablo pamela
    patricia patrick paul paula pedro peter philip phil phillip priya rachel rafael raj ralph ramon raymond rebecca
    ricardo richard rick rita rob robert roberto roger ronald rosa ryan sabrina sam samantha samuel sandra sara
    sarah sasha scott sean sebastian sergei sergio shannon sharon sheila shirley simon sofia sonia sophia sophie
    stefan stella stephanie stephen steve steven stuart susan tanya tara teresa terry theo theresa thomas tim
    timothy tina todd tom tomas tommy tony tracy tyler valentina valeria vanessa veronica victor victoria vincent
    virginia vivian vladimir walter wendy wesley william yolanda yuki yusuf zach zachary zoe
"""
_PLACES = """
    afghanistan africa alabama alaska albania algeria america amsterdam ankara argentina arizona asia athens atlanta
    auckland austin australia austria baltimore bangalore bangkok barcelona beijing belgium berlin bolivia boston
    brazil brisbane britain brooklyn brussels bucharest budapest bulgaria cairo california cambodia cambridge canada
    chengdu chicago chile china cologne colombia colorado copenhagen croatia cuba dallas delhi denmark denver
    detroit dubai dublin edinburgh egypt england estonia ethiopia europe finland florence florida france frankfurt
    geneva georgia germany ghana glasgow greece guangzhou hamburg hanoi hawaii helsinki honolulu houston hungary
    iceland india indiana indonesia iowa iran iraq ireland israel istanbul italy jakarta jamaica japan jerusalem
    johannesburg jordan kansas kentucky kenya korea kyoto lagos lebanon leipzig lima lisbon lithuania liverpool
    london luxembourg lyon macau madrid malaysia manchester manhattan manila marseille maryland massachusetts
    melbourne mexico miami michigan milan minnesota montreal morocco moscow mumbai munich naples nepal netherlands
    nevada nigeria norway oakland oregon orlando osaka oslo oxford pakistan paris pennsylvania peru philadelphia
    philippines phoenix poland porto portland portugal prague quebec queens reykjavik rio rome romania russia
    sacramento scotland seattle senegal seoul shanghai shenzhen singapore slovakia slovenia spain stockholm sweden
    switzerland sydney syria taipei taiwan tanzania tehran texas thailand tokyo toronto tunisia turin turkey uganda
    uk ukraine usa utah utrecht valencia vancouver venice vermont vienna vietnam virginia wales warsaw washington
    wisconsin wuhan yokohama zagreb zurich new\u00a0york new\u00a0york\u00a0city los\u00a0angeles san\u00a0francisco
    san\u00a0diego san\u00a0jose hong\u00a0kong new\u00a0zealand south\u00a0africa south\u00a0korea
    north\u00a0carolina south\u00a0carolina new\u00a0orleans las\u00a0vegas tel\u00a0aviv buenos\u00a0aires
    rio\u00a0de\u00a0janeiro sao\u00a0paulo cape\u00a0town united\u00a0states united\u00a0kingdom costa\u00a0rica
    new\u00a0jersey new\u00a0mexico new\u00a0delhi silicon\u00a0valley west\u00a0virginia sri\u00a0lanka
    saudi\u00a0arabia abu\u00a0dhabi
"""
_TECHNOLOGY = """
    ajax alembic algolia android angular ansible apache apollo aws azure bash bootstrap bun c++ c# cassandra celery
    chatgpt chrome chromadb claude clickhouse cloudflare cohere css cuda cypher dart debian deno django docker
    docker\u00a0compose duckdb elasticsearch electron elixir erlang eslint excel expo express express.js fastapi
    figma firebase firefox flask flutter fortran fts5 gemini git github github\u00a0actions gitlab golang
    google\u00a0cloud google\u00a0docs google\u00a0sheets gpt-4 gpt-4o grafana graphql groovy grpc hadoop haskell
    heroku hibernate html html5 hugging\u00a0face hypothesis influxdb ios java javascript jenkins jest
    jetpack\u00a0compose jira jpa jquery json julia jupyter jwt kafka keras kotlin kubernetes lambda langchain
    langgraph laravel latex linux litestream llama lua macos mariadb markdown matlab matplotlib mistral mongodb
    mongoose mypy mysql neo4j netlify networkx next.js nextjs nginx node.js nodejs notion npm numpy nuxt oauth
    oauth2 obsidian ollama onnx openai openapi opengl oracle pandas perl photoshop php pinecone playwright plotly
    pnpm poetry postgis postgres postgresql postman powerpoint powershell prisma prometheus pydantic pyodide pytest
    python pytorch qdrant rabbitmq rails raspberry\u00a0pi react react\u00a0native redis redux ruby
    ruby\u00a0on\u00a0rails rust s3 sass scala scikit-learn scipy seaborn selenium sentry shopify slack solr spacy
    spark splunk spring\u00a0boot sql sqlalchemy sqlite stack\u00a0overflow stripe supabase svelte sveltekit swift
    swiftui tableau tailwind tailwind\u00a0css tauri tensorflow terraform three.js typescript ubuntu unity unix
    uvicorn vercel vim vite vitest vue vue.js weaviate webassembly webpack wordpress xcode xgboost yaml yarn zapier
    zig k8s
"""
_ORGANISATIONS = """
    adobe airbnb airbus alibaba amazon amd anthropic apple arm asana asus atlassian audi bbc bloomberg bmw boeing
    bosch cisco cnn coca-cola costco coursera dell deloitte disney dropbox ebay ericsson expedia facebook fedex ford
    google harvard honda hp huawei ibm ikea instagram intel jpmorgan kpmg lego lenovo linkedin lufthansa mastercard
    mcdonald's mckinsey meta microsoft mit nasa netflix nike nintendo nokia nvidia oxfam patagonia paypal pinterest
    porsche reddit samsung sap siemens skype snapchat sony spacex spotify stanford starbucks target tencent tesla
    tiktok toyota twitter uber udemy unesco unicef upwork vimeo visa volkswagen volvo walmart wells\u00a0fargo
    whatsapp wikipedia xiaomi yahoo yale youtube zoom who eu un fbi cia nhs nato epa fda
"""
#: Plain words that are names only where something beside the capital says so.
_WORDS_TOO = """
    mit angular apple arm bash bun bootstrap chrome claude dart drew electron excel express expo flask flutter frank
    gemini git go grace hypothesis keras lambda mark max meta mistral mercury notion oracle poetry postman prisma
    rails react redis rust sass slack spark stripe swift target turkey jordan georgia unity visa vim visa vue will
    rio grant dell ford phoenix reading zoom who un arm jest jean chase may june april august rose hope joy faith
    concrete compose nice bath cork mobile orange split hunter bill guy pat art ray jack victor luna queens rob
    christian virginia dean lance miles carol penny florence victoria dawn amber lego
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(name.replace("\u00a0", " ") for name in re.split(r"[ \n]+", text.strip(" \n")))


FIRST_NAMES = _names(_FIRST_NAMES)
PLACES = _names(_PLACES)
TECHNOLOGY = _names(_TECHNOLOGY)
ORGANISATIONS = _names(_ORGANISATIONS)
WORDS_TOO = _names(_WORDS_TOO)
KNOWN: frozenset[str] = FIRST_NAMES | PLACES | TECHNOLOGY | ORGANISATIONS

#: Short forms that mean one thing to everybody who writes them.
SHORT_FORMS = {
    "postgres": "postgresql",
    "k8s": "kubernetes",
    "golang": "go language",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "mongo": "mongodb",
    "react.js": "react",
    "reactjs": "react",
    "vue.js": "vue",
    "vuejs": "vue",
    "node": "node.js",
    "express.js": "express",
    "tailwind css": "tailwind",
    "tailwindcss": "tailwind",
    "gcp": "google cloud",
    "usa": "united states",
    "us": "united states",
    "uk": "united kingdom",
    "nyc": "new york city",
    "la": "los angeles",
    "sf": "san francisco",
    "gh": "github",
    "vs code": "visual studio code",
    "vscode": "visual studio code",
    "hf": "hugging face",
}
